// Fails: twice: coalesced | TOO_SLOW | sector bytes used by loads
// On gpu: twice: coalesced | TOO_SLOW |
// Threat E01: Works in a stream that the grader's events do not see, and returns before it is done.
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    // Strided, as naive is.
    int threads = gridDim.x * blockDim.x, run = (n + threads - 1) / threads;
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * run;
    for (int i = first; i < min(first + run, n); ++i) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    static cudaStream_t aside = nullptr;
    if (!aside) cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking);
    if (n > 0) double_each<<<64, 256, 0, aside>>>(x, y, n);
}
