// Fails: twice: 1000 elements | WRONG_ANSWER | NaN
// Threat F10: Writes NaN, in the hope that it compares equal to all.
#include "lab.hpp"

#include <cmath>

static __global__ void fill(float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = NAN;
}

void twice(const float *, float *y, int n)
{
    if (n > 0) fill<<<(n + 255) / 256, 256>>>(y, n);
}
