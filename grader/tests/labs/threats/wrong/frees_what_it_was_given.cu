// Fails: twice: 1000 elements | OUT_OF_BOUNDS | cudaFree was given
// On gpu: passes - cudaFree refuses what is no allocation's start, and the error is taken
// Threat C11: Frees the grader's memory.
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
    cudaFree(y);
    cudaGetLastError();
}
