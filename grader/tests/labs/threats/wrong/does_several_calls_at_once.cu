// Fails: twice: again and again | NONDETERMINISTIC | A first call was right and a second
// Threat E05: Does the work of the next calls in this one, and nothing in those.
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    static int calls = 0;
    if (n == 0 || calls++ % 4 != 0) return;
    for (int k = 0; k < 4; ++k) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
