// Fails: scale_columns: sizes around a warp and a block | WRONG_ANSWER | the factor of another column
// Four elements that straddle two rows are scaled as if they stood in one.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static __global__ void scale_quads(const float *in, float *out, int n, int cols,
                                   const float *factor)
{
    int i = 4 * (blockIdx.x * block_size + threadIdx.x);
    for (int k = 0; k < 4; ++k)
        if (i + k < n) out[i + k] = in[i + k] * factor[min(i % cols + k, cols - 1)];
}

void scale_columns(const float *in, float *out, int rows, int cols, const float *factor)
{
    int n = rows * cols;
    if (n == 0) return;
    int a_block = 4 * block_size;
    scale_quads<<<(n + a_block - 1) / a_block, block_size>>>(in, out, n, cols, factor);
}

// Not begun.
void read_offset(const float *, const float *, float *, int, int) {}
void write_offset(const float *, const float *, float *, int, int) {}
void add_unrolled(const float *, const float *, float *, int) {}
void predict(const access_pattern *, prediction *, int) {}
