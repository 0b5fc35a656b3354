// One thread doubles every element.
#include "lab.hpp"

static __global__ void double_all(const float *x, float *y, int n)
{
    for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n) { double_all<<<1, 1>>>(x, y, n); }
