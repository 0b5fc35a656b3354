// Fails: write_offset: a small array | WRONG_ANSWER | a lane that takes no part
// On gpu: write_offset: a small array | WRONG_ANSWER |
// Each lane lends its elements to the one before it, but those without a sum have left.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 96;

static __global__ void add_from_next(const float *a, const float *b, float *c, int n, int offset)
{
    int warp = (blockIdx.x * block_size + threadIdx.x) / 32, lane = threadIdx.x % 32;
    int to = warp * 31 + lane, i = to - 1;
    float sum = i >= 0 && i < n - offset ? a[i] + b[i] : 0;
    if (to >= n - offset) return;
    float next = __shfl_down_sync(0xffffffff, sum, 1);
    if (lane < 31) c[to + offset] = next;
}

void write_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset >= n) return;
    int warps = (n - offset + 30) / 31;
    add_from_next<<<(32 * warps + block_size - 1) / block_size, block_size>>>(a, b, c, n, offset);
}

// Not begun.
void scale_columns(const float *, float *, int, int, const float *) {}
void read_offset(const float *, const float *, float *, int, int) {}
void add_unrolled(const float *, const float *, float *, int) {}
void predict(const access_pattern *, prediction *, int) {}
