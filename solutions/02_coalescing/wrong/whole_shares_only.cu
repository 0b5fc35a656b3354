// Fails: add_unrolled: a small array | NOT_WRITTEN | A kernel of 256 threads ran
// On gpu: add_unrolled: a small array | NOT_WRITTEN |
// A warp adds all that it owns, or nothing.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int per_lane = 8, share = 32 * per_lane;

static __global__ void add_shares(const float *a, const float *b, float *c, int n)
{
    int lane = threadIdx.x % 32, first = (blockIdx.x * 8 + threadIdx.x / 32) * share;
    if (first + share > n) return;
    float sum[per_lane];
    for (int k = 0; k < per_lane; ++k) sum[k] = a[first + 32 * k + lane] + b[first + 32 * k + lane];
    for (int k = 0; k < per_lane; ++k) c[first + 32 * k + lane] = sum[k];
}

void add_unrolled(const float *a, const float *b, float *c, int n)
{
    if (n > 0) add_shares<<<(n + 8 * share - 1) / (8 * share), 256>>>(a, b, c, n);
}

// Not begun.
void scale_columns(const float *, float *, int, int, const float *) {}
void read_offset(const float *, const float *, float *, int, int) {}
void write_offset(const float *, const float *, float *, int, int) {}
void predict(const access_pattern *, prediction *, int) {}
