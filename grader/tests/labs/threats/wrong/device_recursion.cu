// Fails: twice: 1000 elements | CUDA_ERROR | call stack of a thread is used up
// On gpu: twice: 1000 elements | CUDA_ERROR |
// Threat C03: A kernel calls itself until its stack is used up.
#include "lab.hpp"

static __device__ __noinline__ float below(volatile float *above, int n)
{
    volatile float here[64];
    here[n & 63] = above[n & 63] + 1;
    return n < 0 ? here[0] : below(here, n + 1) + here[n & 63];
}

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    volatile float start[64] = {};
    if (i < n) y[i] = 2 * x[i] + below(start, i);
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
