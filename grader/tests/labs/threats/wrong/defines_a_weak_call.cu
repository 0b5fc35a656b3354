// Fails: build | BUILD_REJECTED | cudaMemcpy
// Threat F01: Brings a call of CUDA that stands in where nobody else does.
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

extern "C" [[gnu::weak]] cudaError_t CUDARTAPI cudaMemcpy(void *, const void *, size_t,
                                                          cudaMemcpyKind)
{
    return cudaSuccess;
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
