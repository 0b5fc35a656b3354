// Fails: add_unrolled: arrays that begin anywhere | CUDA_ERROR | peeled for one of them
// On gpu: add_unrolled: arrays that begin anywhere | CUDA_ERROR | isaligned
// The head is peeled until c is aligned; a and b begin elsewhere.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static __global__ void add_several(const float *a, const float *b, float *c, int n, int head)
{
    int t = blockIdx.x * block_size + threadIdx.x, quads = (n - head) / 4;
    if (t < quads) {
        float4 x = reinterpret_cast<const float4 *>(a + head)[t];
        float4 y = reinterpret_cast<const float4 *>(b + head)[t];
        reinterpret_cast<float4 *>(c + head)[t] = {x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w};
    }
    int tail = head + 4 * quads + t;
    if (t < head) c[t] = a[t] + b[t];
    if (tail < n) c[tail] = a[tail] + b[tail];
}

void add_unrolled(const float *a, const float *b, float *c, int n)
{
    if (n == 0) return;
    int head = (4 - reinterpret_cast<size_t>(c) / 4 % 4) % 4, a_block = 4 * block_size;
    add_several<<<(n + a_block - 1) / a_block, block_size>>>(a, b, c, n, head < n ? head : n);
}

// Not begun.
void scale_columns(const float *, float *, int, int, const float *) {}
void read_offset(const float *, const float *, float *, int, int) {}
void write_offset(const float *, const float *, float *, int, int) {}
void predict(const access_pattern *, prediction *, int) {}
