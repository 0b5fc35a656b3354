// Fails: scan_block_inclusive: a small array | WRONG_ANSWER | This is the exclusive scan
// Each thread writes what lies to its left.
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
        int left_of_i = i >= distance ? sums[i - distance] : 0;
        int left_of_k = sums[k - distance];
        __syncthreads();
        sums[i] += left_of_i;
        sums[k] += left_of_k;
        __syncthreads();
    }
    if (i < n) out[i] = i > 0 ? sums[i - 1] : 0;
    if (k < n) out[k] = sums[k - 1];
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
