// Fails: scale_columns: more columns than rows | WRONG_ANSWER | as if each column were contiguous
// Both matrices are taken to be stored by columns.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void scale_block(const float *in, float *out, int rows, int cols,
                                   const float *factor)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (row >= rows || col >= cols) return;
    int i = col * rows + row;
    out[i] = in[i] * factor[col];
}

void scale_columns(const float *in, float *out, int rows, int cols, const float *factor)
{
    if (rows == 0 || cols == 0) return;
    dim3 block(32, 8), grid((cols + 31) / 32, (rows + 7) / 8);
    scale_block<<<grid, block>>>(in, out, rows, cols, factor);
}

// Not begun.
void read_offset(const float *, const float *, float *, int, int) {}
void write_offset(const float *, const float *, float *, int, int) {}
void add_unrolled(const float *, const float *, float *, int) {}
void predict(const access_pattern *, prediction *, int) {}
