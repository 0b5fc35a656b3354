// Fails: read_offset: every offset within a line | PARTIALLY_WRITTEN | the first at index 768
// The last block, which is not full, is left out.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static __global__ void read_elements(const float *a, const float *b, float *c, int n, int offset)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i + offset < n) c[i] = a[i + offset] + b[i + offset];
}

void read_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset >= n) return;
    int blocks = n < block_size ? 1 : (n - offset) / block_size;
    read_elements<<<blocks, block_size>>>(a, b, c, n, offset);
}

// Not begun.
void scale_columns(const float *, float *, int, int, const float *) {}
void write_offset(const float *, const float *, float *, int, int) {}
void add_unrolled(const float *, const float *, float *, int) {}
void predict(const access_pattern *, prediction *, int) {}
