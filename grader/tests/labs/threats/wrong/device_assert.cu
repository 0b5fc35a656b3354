// Fails: twice: 1000 elements | CUDA_ERROR | The assertion `n < 0` failed
// On gpu: twice: 1000 elements | CUDA_ERROR | (710)
// Threat C02: A kernel's assertion fails.
#include "lab.hpp"

#include <cassert>

static __global__ void never_right(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(n < 0);
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) never_right<<<(n + 255) / 256, 256>>>(x, y, n);
}
