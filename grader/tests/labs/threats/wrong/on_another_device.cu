// Fails: twice: 1000 elements | CUDA_ERROR |
// Threat C13: Works on a device that nobody waits for.
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    cudaSetDevice(1);
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
