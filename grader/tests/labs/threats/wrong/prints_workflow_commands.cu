// Fails: twice: 1000 elements | WRONG_ANSWER | 1.5 times
// Threat A07: Prints commands to the runner of a workflow.
#include "lab.hpp"

#include <cstdio>

static __global__ void multiply_each(const float *x, float *y, int n, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) multiply_each<<<(n + 255) / 256, 256>>>(x, y, n, 3);
    std::puts("::stop-commands::never\n::error file=a.cu,line=1::wrong\n::add-mask::PASS\n"
              "::set-output name=points::100");
}
