// Fails: twice: other sizes | NOT_WRITTEN | no element of its output was written
// Threat E18: Is right for the sizes that it has seen in the handout alone.
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n == 1000 || n == 4096) double_each<<<n / 8, 8>>>(x, y, n);
}
