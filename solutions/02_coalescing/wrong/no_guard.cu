// Fails: write_offset: a small array | OUT_OF_BOUNDS | past the end of
// The guard forgets that c begins at the offset.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static __global__ void write_elements(const float *a, const float *b, float *c, int n, int offset)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) c[i + offset] = a[i] + b[i];
}

void write_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset >= n) return;
    int blocks = (n - offset + block_size - 1) / block_size;
    write_elements<<<blocks, block_size>>>(a, b, c, n, offset);
}

// Not begun.
void scale_columns(const float *, float *, int, int, const float *) {}
void read_offset(const float *, const float *, float *, int, int) {}
void add_unrolled(const float *, const float *, float *, int) {}
void predict(const access_pattern *, prediction *, int) {}
