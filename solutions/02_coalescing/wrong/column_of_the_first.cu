// Fails: scale_columns: sizes around a warp and a block | WRONG_ANSWER | the factor of another column
// Threads go on by a whole grid, with the factor of their first element's column.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 64, blocks = 2;

static __global__ void scale_some(const float *in, float *out, int count, int cols,
                                  const float *factor)
{
    int first = blockIdx.x * block_size + threadIdx.x;
    float f = factor[first % cols];
    for (int i = first; i < count; i += blocks * block_size) out[i] = in[i] * f;
}

void scale_columns(const float *in, float *out, int rows, int cols, const float *factor)
{
    if (rows * cols > 0) scale_some<<<blocks, block_size>>>(in, out, rows * cols, cols, factor);
}

// Not begun.
void read_offset(const float *, const float *, float *, int, int) {}
void write_offset(const float *, const float *, float *, int, int) {}
void add_unrolled(const float *, const float *, float *, int) {}
void predict(const access_pattern *, prediction *, int) {}
