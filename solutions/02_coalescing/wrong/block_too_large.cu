// Fails: scale_columns: a small matrix | LAUNCH_FAILED | left unchecked
// A block has at most 1024 threads; nobody asks whether the launch was accepted.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 2048;

static __global__ void scale_elements(const float *in, float *out, int n, int cols,
                                      const float *factor)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) out[i] = in[i] * factor[i % cols];
}

void scale_columns(const float *in, float *out, int rows, int cols, const float *factor)
{
    int n = rows * cols;
    if (n == 0) return;
    scale_elements<<<(n + block_size - 1) / block_size, block_size>>>(in, out, n, cols, factor);
}

// Not begun.
void read_offset(const float *, const float *, float *, int, int) {}
void write_offset(const float *, const float *, float *, int, int) {}
void add_unrolled(const float *, const float *, float *, int) {}
void predict(const access_pattern *, prediction *, int) {}
