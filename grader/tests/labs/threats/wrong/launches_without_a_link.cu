// Fails: build | BUILD_REJECTED | the runtime of kernels
// On gpu: build | BUILD_FAILED | __cudaCDP2GetLastError
// Threat F73: Kernels call what launches and copies for them, in a lab without a device link.
#include "lab.hpp"

#undef __cudaCDP2GetLastError

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i] + __cudaCDP2GetLastError();
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
