// Fails: twice: 1000 elements | CUDA_ERROR | an operand within 16 others
// On gpu: build | BUILD_FAILED |
// Threat F48: Nests an operand so deep that who reads it uses the stack up.
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

#define TEN(x) x x x x x x x x x x
static __global__ void nested(int *out)
{
    asm volatile("mov.b32 %%0, " TEN(TEN(TEN(TEN(TEN("["))))) "x;" : "=r"(*out));
}

void twice(const float *x, float *y, int n)
{
    if (n <= 0) return;
    nested<<<1, 1>>>((int *)y);
    double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
