// Fails: build | BUILD_REJECTED | cudaEventElapsedTime
// Threat B29: Writes a name so that no search in the source finds it.
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

#define JOINED(a, b) a##b
extern "C" cudaError_t CUDARTAPI JOINED(cudaEvent, Elapsed\
Time)(float *ms, cudaEvent_t, cudaEvent_t)
{
    *ms = 0;
    return cudaSuccess;
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
