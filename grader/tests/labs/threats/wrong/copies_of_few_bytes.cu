// Fails: twice: coalesced | TOO_SLOW | 8.0 sectors per request
// On gpu: may pass - two passes there may still be twice as fast as the naive one
// Threat F57: Loads by copies of fewer bytes than they write, far apart, as if that cost nothing.
#include "lab.hpp"

static __global__ void first_three_of_four(const float *x, float *y, int n)
{
    __shared__ float4 got[256];
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(got + threadIdx.x));
    int threads = gridDim.x * blockDim.x, run = (n + threads - 1) / threads;
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * run;
    for (int i = first; i < min(first + run, n); ++i) {
        if (i % 4 == 3) continue;
        asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2; cp.async.wait_all;" ::"r"(at),
                     "l"(x + i / 4 * 4), "r"(4 * (i % 4 + 1))
                     : "memory");
        y[i] = 2 * reinterpret_cast<const float *>(got + threadIdx.x)[i % 4];
    }
}

static __global__ void last_of_four(const volatile float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    if (i % 4 == 3) y[i] = 2 * v;
}

void twice(const float *x, float *y, int n)
{
    if (n <= 0) return;
    first_three_of_four<<<64, 256>>>(x, y, n);
    last_of_four<<<(n + 255) / 256, 256>>>(x, y, n);
}
