// Fails: transpose: two tiles | PARTIALLY_WRITTEN | all of rows 32 to 63
// A thread an element, and each index is compared with the other bound.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void transpose_elements(const float *in, float *out, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < cols && col < rows) out[col * rows + row] = in[row * cols + col];
}

void transpose(const float *in, float *out, int rows, int cols)
{
    if (rows == 0 || cols == 0) return;
    dim3 block(32, 8), grid((cols + 31) / 32, (rows + 7) / 8);
    transpose_elements<<<grid, block>>>(in, out, rows, cols);
}

// Not begun.
void device_facts(device_facts_t *) {}
void add_to_global(float, float *) {}
void polynomial(const float *, float *, int, const float *, int) {}
void follow(const unsigned char *, const unsigned char *, unsigned char *, int, int) {}
void small_sort(const float *, float *, int) {}
void reverse_blocks(float *, int, int) {}
void sample_bilinear(const unsigned char *, int, int, const float2 *, float *, int) {}
float *acquire(size_t) { return nullptr; }
void upload(const float *, float *, size_t) {}
void release(float *) {}
size_t sum_mapped_scratch(int) { return 0; }
void sum_mapped(const float *, int, int, double *, void *) {}
void scale_managed(float *, int, float, int) {}
