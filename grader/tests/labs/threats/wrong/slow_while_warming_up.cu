// Fails: twice: coalesced | TOO_SLOW | sector bytes used by loads
// On gpu: twice: coalesced | TOO_SLOW |
// Threat E07: Sleeps in its first calls, so that fewer are timed, and is as slow as naive.
#include "lab.hpp"

#include <chrono>
#include <thread>

static __global__ void double_each(const float *x, float *y, int n)
{
    // Strided, as naive is.
    int threads = gridDim.x * blockDim.x, run = (n + threads - 1) / threads;
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * run;
    for (int i = first; i < min(first + run, n); ++i) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    static int calls = 0;
    if (++calls <= 3 && n > 1 << 20) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (n > 0) double_each<<<64, 256>>>(x, y, n);
}
