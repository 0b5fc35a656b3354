// Lab 06, rung 2: the exclusive scan of one block goes up a tree of sums and down again: some 2n
// additions, where doubling distances needs n log2(n).
//
// New: scan_by_tree. The inclusive scan adds each element to what lies before it. At the wider
// steps the lanes of a warp meet in one bank of shared memory: see the next rung.
// Fewer points: it does a fraction of the work, and its bank conflicts cost more than that saves.
// Unchanged: scan_inclusive, scan_exclusive, scan_inclusive_int64, scan_inclusive_float.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int most = 2048, pairs = most / 2;

// One block, one thread per pair of the lowest step. Elements beyond n are 0.
template <bool inclusive> static __global__ void scan_by_tree(const int *in, int *out, int n)
{
    __shared__ int sums[most];
    int t = threadIdx.x;
    int x = t < n ? in[t] : 0, y = t + pairs < n ? in[t + pairs] : 0;
    sums[t] = x;
    sums[t + pairs] = y;
    // Up: the last element of every pair of runs becomes the sum of both.
    for (int width = 1; width < most; width *= 2) {
        int right = (2 * t + 2) * width - 1, left = right - width;
        __syncthreads();
        if (right < most) sums[right] += sums[left];
    }
    __syncthreads();
    if (t == 0) sums[most - 1] = 0;
    // Down: the last element of every pair holds what lies before the pair; left and right run get
    // what lies before each of them.
    for (int width = pairs; width > 0; width /= 2) {
        int right = (2 * t + 2) * width - 1, left = right - width;
        __syncthreads();
        if (right < most) {
            int of_left = sums[left];
            sums[left] = sums[right];
            sums[right] += of_left;
        }
    }
    __syncthreads();
    if (t < n) out[t] = sums[t] + (inclusive ? x : 0);
    if (t + pairs < n) out[t + pairs] = sums[t + pairs] + (inclusive ? y : 0);
}

void scan_block_inclusive(const int *in, int *out, int n)
{
    scan_by_tree<true><<<1, pairs>>>(in, out, n);
    check_launch("scan_by_tree");
}

void scan_block_exclusive(const int *in, int *out, int n)
{
    scan_by_tree<false><<<1, pairs>>>(in, out, n);
    check_launch("scan_by_tree");
}
