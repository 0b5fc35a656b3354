// Fails: twice: 1000 elements | UNINITIALISED | read a value that was never written
// On gpu: twice: 1000 elements | WRONG_ANSWER |
// Threat D11: Takes the output for a copy of the input.
#include "lab.hpp"

static __global__ void double_each(float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * y[i];
}

void twice(const float *, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(y, n);
}
