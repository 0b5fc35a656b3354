// Fails: twice: coalesced | IMPLAUSIBLE | any version must move
// On gpu: twice: coalesced | TOO_SLOW |
// Threat F44: Has kernels copy to managed memory and back, where the host works.
#include "lab.hpp"

static __global__ void copy_each(const float *from, float *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}

void twice(const float *x, float *y, int n)
{
    static float *between = nullptr;
    if (!between) cudaMallocManaged(&between, sizeof(float) << 24);
    if (n == 0) return;
    copy_each<<<(n + 255) / 256, 256>>>(x, between, n);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; ++i) between[i] *= 2;
    copy_each<<<(n + 255) / 256, 256>>>(between, y, n);
    cudaDeviceSynchronize();
}
