// Fails: build | BUILD_REJECTED | MiB, and at most 16 MiB are allowed
// Threat F50: Has more code than can be looked through in time.
#include "lab.hpp"

#ifndef __CUDA_ARCH__
asm(".pushsection .text.big,\"ax\"\n.fill 60000000,1,0x90\n.popsection");
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
