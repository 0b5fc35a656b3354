// Fails: add_unrolled: speed | TOO_SLOW | sectors loaded per element
// An element a thread, read four times: as many bytes a thread as four elements have.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void add_each(const volatile float *a, const volatile float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i], y = b[i];
    for (int k = 0; k < 3; ++k) x = a[i], y = b[i];
    c[i] = x + y;
}

void add_unrolled(const float *a, const float *b, float *c, int n)
{
    if (n) add_each<<<(n + 255) / 256, 256>>>(a, b, c, n);
}

// Not begun.
void scale_columns(const float *, float *, int, int, const float *) {}
void read_offset(const float *, const float *, float *, int, int) {}
void write_offset(const float *, const float *, float *, int, int) {}
void predict(const access_pattern *, prediction *, int) {}
