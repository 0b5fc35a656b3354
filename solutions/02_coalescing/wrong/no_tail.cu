// Fails: add_unrolled: a small array | PARTIALLY_WRITTEN | never written
// A thread whose four elements are not all there does none.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static __global__ void add_several(const float *a, const float *b, float *c, int n)
{
    int i = 4 * (blockIdx.x * block_size + threadIdx.x);
    if (i + 3 >= n) return;
    for (int k = 0; k < 4; ++k) c[i + k] = a[i + k] + b[i + k];
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
