// Fails: add_unrolled: arrays that begin anywhere | CUDA_ERROR | check the pointer, or peel
// On gpu: add_unrolled: arrays that begin anywhere | CUDA_ERROR | isaligned
// A float4 is loaded wherever an array begins.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static __global__ void add_several(const float *a, const float *b, float *c, int n)
{
    int q = blockIdx.x * block_size + threadIdx.x;
    if (q < n / 4) {
        float4 x = reinterpret_cast<const float4 *>(a)[q];
        float4 y = reinterpret_cast<const float4 *>(b)[q];
        reinterpret_cast<float4 *>(c)[q] = {x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w};
    }
    int i = n / 4 * 4 + q;
    if (i < n) c[i] = a[i] + b[i];
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
