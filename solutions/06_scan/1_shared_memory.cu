// Lab 06, rung 1: the scans of one block keep their growing sums in shared memory.
//
// New: scan_by_doubling. An element passes through global memory twice, read and written, however
// many distances there are.
// Unchanged: scan_inclusive, scan_exclusive, scan_inclusive_int64, scan_inclusive_float.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int most = 2048, pairs = most / 2;

// One block, two elements per thread. An exclusive scan is an inclusive one of what lies one
// earlier.
static __global__ void scan_by_doubling(const int *in, int *out, int n, int earlier)
{
    __shared__ int sums[most];
    int i = threadIdx.x, k = i + pairs;
    sums[i] = i >= earlier && i < n ? in[i - earlier] : 0;
    sums[k] = k < n ? in[k - earlier] : 0;
    __syncthreads();
    for (int distance = 1; distance < n; distance *= 2) {
        int left_of_i = i >= distance ? sums[i - distance] : 0;
        int left_of_k = sums[k - distance];
        __syncthreads(); // all have read before anyone writes
        sums[i] += left_of_i;
        sums[k] += left_of_k;
        __syncthreads();
    }
    if (i < n) out[i] = sums[i];
    if (k < n) out[k] = sums[k];
}

static void scan_block(const int *in, int *out, int n, int earlier)
{
    scan_by_doubling<<<1, pairs>>>(in, out, n, earlier);
    check_launch("scan_by_doubling");
}

void scan_block_inclusive(const int *in, int *out, int n) { scan_block(in, out, n, 0); }
void scan_block_exclusive(const int *in, int *out, int n) { scan_block(in, out, n, 1); }
