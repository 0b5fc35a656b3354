// Lab 06, rung 5: the lanes of a warp pass their sums on without memory, and a block needs two
// barriers where it had twenty-one.
//
// New: scan_in_warp, and with it another scan_in_block. The three kernels of rung 4 use it as they
// did, and so does scan_pairs, which scans one block in place of the tree of rung 3.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 1024, most = 2048, pairs = most / 2;

static int blocks_for(int n) { return n / block_size + (n % block_size != 0); }

// A thread's prefix sums in its warp or its block: without its x and with it.
template <class T> struct sums_of {
    T exclusive, inclusive;
};

template <class T> static __device__ sums_of<T> scan_in_warp(T x)
{
    int lane = threadIdx.x % 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        T left = __shfl_up_sync(0xffffffff, x, distance);
        if (lane >= distance) x = left + x;
    }
    T left = __shfl_up_sync(0xffffffff, x, 1);
    return {lane > 0 ? left : T(0), x};
}

template <class T> static __device__ sums_of<T> scan_in_block(T x)
{
    __shared__ T of_warps[32]; // one sum per warp, then their exclusive prefix sums
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    sums_of<T> sums = scan_in_warp(x);
    if (lane == 31) of_warps[warp] = sums.inclusive;
    __syncthreads();
    if (warp == 0) of_warps[lane] = scan_in_warp(of_warps[lane]).exclusive; // 32 warps, 32 lanes
    __syncthreads();
    return {of_warps[warp] + sums.exclusive, of_warps[warp] + sums.inclusive};
}

// One block, two neighbours per thread.
template <bool inclusive> static __global__ void scan_pairs(const int *in, int *out, int n)
{
    int i = 2 * threadIdx.x, k = i + 1;
    int x = i < n ? in[i] : 0, y = k < n ? in[k] : 0, before = scan_in_block(x + y).exclusive;
    if (i < n) out[i] = inclusive ? before + x : before;
    if (k < n) out[k] = inclusive ? before + x + y : before + x;
}

void scan_block_inclusive(const int *in, int *out, int n)
{
    scan_pairs<true><<<1, pairs>>>(in, out, n);
    check_launch("scan_pairs");
}

void scan_block_exclusive(const int *in, int *out, int n)
{
    scan_pairs<false><<<1, pairs>>>(in, out, n);
    check_launch("scan_pairs");
}

// First kernel: each block scans its elements, and writes its sum.
template <bool inclusive, class T>
static __global__ void scan_blocks(const T *in, T *out, int n, T *block_sums)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    sums_of<T> sums = scan_in_block(i < n ? in[i] : T(0));
    if (i < n) out[i] = inclusive ? sums.inclusive : sums.exclusive;
    if (threadIdx.x == block_size - 1) block_sums[blockIdx.x] = sums.inclusive;
}

// Second kernel, one block: each block's sum becomes the sum of those before.
template <class T> static __global__ void scan_sums(T *block_sums, int blocks)
{
    int t = threadIdx.x, run = (blocks + block_size - 1) / block_size;
    int first = min(t * run, blocks), last = min(first + run, blocks);
    T of_run = 0;
    for (int b = first; b < last; ++b) of_run += block_sums[b];
    T before = scan_in_block(of_run).exclusive;
    for (int b = first; b < last; ++b) {
        T here = block_sums[b];
        block_sums[b] = before;
        before += here;
    }
}

// Third kernel: what lies before a block is added to its sums.
template <class T> static __global__ void add_before(T *out, int n, const T *block_sums)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) out[i] = block_sums[blockIdx.x] + out[i];
}

template <bool inclusive, class T> static void scan(const T *in, T *out, int n, void *scratch)
{
    int blocks = blocks_for(n);
    T *block_sums = static_cast<T *>(scratch);
    if (blocks == 0) return;
    scan_blocks<inclusive><<<blocks, block_size>>>(in, out, n, block_sums);
    check_launch("scan_blocks");
    scan_sums<<<1, block_size>>>(block_sums, blocks);
    check_launch("scan_sums");
    add_before<<<blocks, block_size>>>(out, n, block_sums);
    check_launch("add_before");
}

// One sum per block.
size_t scan_inclusive_scratch(int n) { return sizeof(int) * blocks_for(n); }
size_t scan_exclusive_scratch(int n) { return sizeof(int) * blocks_for(n); }
size_t scan_inclusive_int64_scratch(int n) { return sizeof(std::int64_t) * blocks_for(n); }
size_t scan_inclusive_float_scratch(int n) { return sizeof(float) * blocks_for(n); }

void scan_inclusive(const int *in, int *out, int n, void *scratch)
{
    scan<true>(in, out, n, scratch);
}

void scan_exclusive(const int *in, int *out, int n, void *scratch)
{
    scan<false>(in, out, n, scratch);
}

void scan_inclusive_int64(const std::int64_t *in, std::int64_t *out, int n, void *scratch)
{
    scan<true>(in, out, n, scratch);
}

void scan_inclusive_float(const float *in, float *out, int n, void *scratch)
{
    scan<true>(in, out, n, scratch);
}
