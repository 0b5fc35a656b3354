// Fails: add_unrolled: a small array | OUT_OF_BOUNDS | past the end of
// The guard lets one element too many through.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static __global__ void add_several(const float *a, const float *b, float *c, int n)
{
    int first = blockIdx.x * 4 * block_size + threadIdx.x;
    for (int i = first; i < first + 4 * block_size; i += block_size)
        if (i <= n) c[i] = a[i] + b[i];
}

void add_unrolled(const float *a, const float *b, float *c, int n)
{
    if (n == 0) return;
    int a_block = 4 * block_size;
    add_several<<<(n + a_block - 1) / a_block, block_size>>>(a, b, c, n);
}

// Not begun.
void scale_columns(const float *, float *, int, int, const float *) {}
void read_offset(const float *, const float *, float *, int, int) {}
void write_offset(const float *, const float *, float *, int, int) {}
void predict(const access_pattern *, prediction *, int) {}
