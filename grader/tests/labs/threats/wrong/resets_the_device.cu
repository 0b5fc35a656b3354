// Fails: twice: 1000 elements | CUDA_ERROR | reading the results
// On gpu: twice: 1000 elements | CRASH or CUDA_ERROR |
// Threat C11: Takes the grader's memory away with all else on the device.
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
    cudaDeviceReset();
}
