// Fails: twice: 1000 elements | OUT_OF_BOUNDS | the end of `x`
// Threat D07: Writes behind an input, beyond all that surrounds the output.
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
    if (i == 0) const_cast<float *>(x)[n + 3] = 0;
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
