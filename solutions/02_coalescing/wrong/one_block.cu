// Fails: scale_columns: speed | TOO_SLOW | One block does nearly all
// On gpu: scale_columns: speed | TOO_SLOW | times
// One block goes through all rows: neighbouring lanes take neighbours, and nobody else works.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 1024;

static __global__ void scale_all(const float *in, float *out, int rows, int cols,
                                 const float *factor)
{
    for (int r = 0; r < rows; ++r)
        for (int c = threadIdx.x; c < cols; c += block_size)
            out[size_t(r) * cols + c] = in[size_t(r) * cols + c] * factor[c];
}

void scale_columns(const float *in, float *out, int rows, int cols, const float *factor)
{
    if (rows && cols) scale_all<<<1, block_size>>>(in, out, rows, cols, factor);
}

// Not begun.
void read_offset(const float *, const float *, float *, int, int) {}
void write_offset(const float *, const float *, float *, int, int) {}
void add_unrolled(const float *, const float *, float *, int) {}
void predict(const access_pattern *, prediction *, int) {}
