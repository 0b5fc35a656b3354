// Fails: build | BUILD_FAILED |
// Threat F53: Has the assembler say a line so long that who reads it uses the stack up.
#include "lab.hpp"

#define TEN(x) x x x x x x x x x x
#ifndef __CUDA_ARCH__
asm(".print \"" TEN(TEN(TEN(TEN(TEN("a"))))) "\"\n.error \"enough\"");
#endif

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
