// Fails: scale_columns: more rows than columns | WRONG_ANSWER | computed in floats
// The row is computed by dividing floats.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void scale_elements(const float *in, float *out, int n, int cols,
                                      const float *factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float row = floorf(float(i) / float(cols));
    int col = int(float(i) - row * float(cols));
    out[i] = in[i] * factor[col];
}

void scale_columns(const float *in, float *out, int rows, int cols, const float *factor)
{
    int n = rows * cols;
    if (n > 0) scale_elements<<<(n + 255) / 256, 256>>>(in, out, n, cols, factor);
}

// Not begun.
void read_offset(const float *, const float *, float *, int, int) {}
void write_offset(const float *, const float *, float *, int, int) {}
void add_unrolled(const float *, const float *, float *, int) {}
void predict(const access_pattern *, prediction *, int) {}
