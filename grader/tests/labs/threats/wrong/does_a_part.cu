// Fails: twice: 1000 elements | WRONG_ANSWER | 500 of 1000 elements are wrong
// Threat E17: Computes every other element and guesses the rest.
#include "lab.hpp"

static __global__ void double_some(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i & ~1];
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_some<<<(n + 255) / 256, 256>>>(x, y, n);
}
