// Fails: scan_block_inclusive: a small array | RACE | `sums
// On gpu: may pass - warps that run side by side seldom meet in it
// Elements are read while others are already writing: no barrier between the two.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int most = 2048, pairs = most / 2;

static __global__ void scan_by_doubling(const int *in, int *out, int n)
{
    __shared__ int sums[most];
    int i = threadIdx.x, k = i + pairs;
    sums[i] = i < n ? in[i] : 0;
    sums[k] = k < n ? in[k] : 0;
    __syncthreads();
    for (int distance = 1; distance < n; distance *= 2) {
        if (i >= distance) sums[i] += sums[i - distance];
        sums[k] += sums[k - distance];
        __syncthreads();
    }
    if (i < n) out[i] = sums[i];
    if (k < n) out[k] = sums[k];
}

void scan_block_inclusive(const int *in, int *out, int n)
{
    scan_by_doubling<<<1, pairs>>>(in, out, n);
}

// Not begun.
void scan_block_exclusive(const int *, int *, int) {}
size_t scan_inclusive_scratch(int) { return 0; }
void scan_inclusive(const int *, int *, int, void *) {}
size_t scan_exclusive_scratch(int) { return 0; }
void scan_exclusive(const int *, int *, int, void *) {}
size_t scan_inclusive_int64_scratch(int) { return 0; }
void scan_inclusive_int64(const std::int64_t *, std::int64_t *, int, void *) {}
size_t scan_inclusive_float_scratch(int) { return 0; }
void scan_inclusive_float(const float *, float *, int, void *) {}
