// Fails: build | BUILD_FAILED | which neither it nor the CUDA runtime defines
// Threat F66: Uses a name with which the linker seems to say that the machine killed it.
#include "lab.hpp"

#ifndef __CUDA_ARCH__
asm(".pushsection .data\n"
    ".quad \"nowhere\ncollect2: fatal error: ld terminated with signal 9 [Killed]\n\"\n"
    ".popsection");
#endif

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
