// Fails: read_offset: every offset within a line | WRONG_ANSWER | rounded down to a multiple of 4
// An offset within a float4 is lost in the division.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static __global__ void read_quads(const float4 *a, const float4 *b, float *c, int count, int offset)
{
    int q = blockIdx.x * block_size + threadIdx.x;
    if (4 * q >= count) return;
    float4 x = a[q + offset / 4], y = b[q + offset / 4];
    float sums[4] = {x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w};
    for (int k = 0; k < 4; ++k)
        if (4 * q + k < count) c[4 * q + k] = sums[k];
}

static __global__ void read_elements(const float *a, const float *b, float *c, int count)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < count) c[i] = a[i] + b[i];
}

void read_offset(const float *a, const float *b, float *c, int n, int offset)
{
    int count = n - offset;
    if (count <= 0) return;
    int blocks = (count + block_size - 1) / block_size;
    if (n % 4 == 0)
        read_quads<<<blocks, block_size>>>((const float4 *)a, (const float4 *)b, c, count, offset);
    else
        read_elements<<<blocks, block_size>>>(a + offset, b + offset, c, count);
}

// Not begun.
void scale_columns(const float *, float *, int, int, const float *) {}
void write_offset(const float *, const float *, float *, int, int) {}
void add_unrolled(const float *, const float *, float *, int) {}
void predict(const access_pattern *, prediction *, int) {}
