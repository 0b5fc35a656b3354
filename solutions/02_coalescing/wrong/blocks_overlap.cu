// Fails: scale_columns: sizes around a warp and a block | PARTIALLY_WRITTEN | where the one before it ends
// A block owns four times as many elements as the next one goes on by.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, per_thread = 4;

static __global__ void scale_elements(const float *in, float *out, int n, int cols,
                                      const float *factor)
{
    int first = blockIdx.x * block_size;
    for (int k = 0; k < per_thread; ++k) {
        int i = first + k * block_size + threadIdx.x;
        if (i < n) out[i] = in[i] * factor[i % cols];
    }
}

void scale_columns(const float *in, float *out, int rows, int cols, const float *factor)
{
    int n = rows * cols, share = block_size * per_thread;
    if (n > 0) scale_elements<<<(n + share - 1) / share, block_size>>>(in, out, n, cols, factor);
}

// Not begun.
void read_offset(const float *, const float *, float *, int, int) {}
void write_offset(const float *, const float *, float *, int, int) {}
void add_unrolled(const float *, const float *, float *, int) {}
void predict(const access_pattern *, prediction *, int) {}
