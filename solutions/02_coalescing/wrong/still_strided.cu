// Fails: scale_columns: speed | TOO_SLOW | sector bytes used
// On gpu: scale_columns: speed | TOO_SLOW | times
// Tidied up, but a thread still owns a row.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static __global__ void scale_rows(const float *in, float *out, int rows, int cols,
                                  const float *factor)
{
    int row = blockIdx.x * block_size + threadIdx.x;
    if (row >= rows) return;
    // A factor is fetched early and a row walked with a pointer; the lanes still stride by a row.
    const float *from = in + row * cols;
    float *to = out + row * cols;
    float f = factor[0];
    for (int col = 0; col < cols; ++col) {
        float next = col + 1 < cols ? factor[col + 1] : 0;
        to[col] = from[col] * f;
        f = next;
    }
}

void scale_columns(const float *in, float *out, int rows, int cols, const float *factor)
{
    if (rows == 0 || cols == 0) return;
    scale_rows<<<(rows + block_size - 1) / block_size, block_size>>>(in, out, rows, cols, factor);
}

// Not begun.
void read_offset(const float *, const float *, float *, int, int) {}
void write_offset(const float *, const float *, float *, int, int) {}
void add_unrolled(const float *, const float *, float *, int) {}
void predict(const access_pattern *, prediction *, int) {}
