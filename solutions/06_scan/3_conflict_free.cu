// Lab 06, rung 3: the tree skips a word of shared memory after every 32, so that elements a power
// of two apart lie in different banks.
//
// New: place, through which every index of the tree goes. At width 16 the lanes of a warp reached
// for words 32 apart: all in one bank, one after the other. Now these are 33 apart.
// Unchanged: scan_inclusive, scan_exclusive, scan_inclusive_int64, scan_inclusive_float.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int most = 2048, pairs = most / 2;

static __device__ int place(int i) { return i + i / 32; }

// One block, one thread per pair of the lowest step. Elements beyond n are 0.
template <bool inclusive> static __global__ void scan_by_tree(const int *in, int *out, int n)
{
    __shared__ int sums[most + most / 32];
    int t = threadIdx.x;
    int x = t < n ? in[t] : 0, y = t + pairs < n ? in[t + pairs] : 0;
    sums[place(t)] = x;
    sums[place(t + pairs)] = y;
    // Up: the last element of every pair of runs becomes the sum of both.
    for (int width = 1; width < most; width *= 2) {
        int right = (2 * t + 2) * width - 1, left = right - width;
        __syncthreads();
        if (right < most) sums[place(right)] += sums[place(left)];
    }
    __syncthreads();
    if (t == 0) sums[place(most - 1)] = 0;
    // Down: the last element of every pair holds what lies before the pair; left and right run get
    // what lies before each of them.
    for (int width = pairs; width > 0; width /= 2) {
        int right = (2 * t + 2) * width - 1, left = right - width;
        __syncthreads();
        if (right < most) {
            int of_left = sums[place(left)];
            sums[place(left)] = sums[place(right)];
            sums[place(right)] += of_left;
        }
    }
    __syncthreads();
    if (t < n) out[t] = sums[place(t)] + (inclusive ? x : 0);
    if (t + pairs < n) out[t + pairs] = sums[place(t + pairs)] + (inclusive ? y : 0);
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
