// Fails: twice: 1000 elements | NOT_WRITTEN | no element of its output was written
// Threat C08: Clears the error of a launch that failed.
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 2048>>>(x, y, n);
    cudaGetLastError();
}
