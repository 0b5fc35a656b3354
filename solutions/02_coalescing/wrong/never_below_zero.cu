// Fails: write_offset: a small array | CUDA_ERROR | came out 2^32 too large
// On gpu: write_offset: a small array | CUDA_ERROR |
// Of an unsigned number it is asked whether it is at least 0.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void write_elements(const float *a, const float *b, float *c, unsigned n,
                                      unsigned offset)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, from = i - offset;
    if (i < n && from >= 0) c[i] = a[from] + b[from];
}

void write_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset < n) write_elements<<<(n + 255) / 256, 256>>>(a, b, c, n, offset);
}

// Not begun.
void scale_columns(const float *, float *, int, int, const float *) {}
void read_offset(const float *, const float *, float *, int, int) {}
void add_unrolled(const float *, const float *, float *, int) {}
void predict(const access_pattern *, prediction *, int) {}
