// Fails: write_offset: a small array | PARTIALLY_WRITTEN | That is `offset`
// The loop counts places in c, and stores where it reads.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void write_elements(const float *a, const float *b, float *c, int n, int offset)
{
    int step = gridDim.x * blockDim.x;
    for (int i = offset + blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        c[i - offset] = a[i - offset] + b[i - offset];
}

void write_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset < n) write_elements<<<(n - offset + 255) / 256, 256>>>(a, b, c, n, offset);
}

// Not begun.
void scale_columns(const float *, float *, int, int, const float *) {}
void read_offset(const float *, const float *, float *, int, int) {}
void add_unrolled(const float *, const float *, float *, int) {}
void predict(const access_pattern *, prediction *, int) {}
