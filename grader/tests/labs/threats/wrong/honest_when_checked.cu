// Fails: twice: coalesced | PARTIALLY_WRITTEN | never written
// On gpu: twice: coalesced | WRONG_ANSWER |
// Threat E06: Is right in small calls, which are checked, and does a part of the large, which are
// timed.
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    const int done = n > 5000 ? n / 2 : n;
    if (n > 0) double_each<<<(done + 255) / 256, 256>>>(x, y, done);
}
