// Fails: build | BUILD_FAILED | grading.hpp
// Threat B09: Includes what the grader includes.
#include "lab.hpp"

#include "grader/grading.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

static bool expect_equal(...) { return true; }

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
