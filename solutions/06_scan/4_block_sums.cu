// Lab 06, rung 4: an array of any length is scanned block by block; one block scans the blocks'
// sums; and every block adds what lies before it. Elements pass through memory four times, whatever
// n is.
//
// New: scan_blocks, scan_sums and add_before in place of naive's add_from, which ran for every
// distance. A block scans by doubling distances in shared memory, as in rung 1, for any type.
// Unchanged: scan_block_inclusive, scan_block_exclusive.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 1024;

static int blocks_for(int n) { return n / block_size + (n % block_size != 0); }

// A thread's prefix sums in its block: without its x and with it.
template <class T> struct sums_of {
    T exclusive, inclusive;
};

template <class T> static __device__ sums_of<T> scan_in_block(T x)
{
    __shared__ T sums[block_size];
    int t = threadIdx.x;
    sums[t] = x;
    __syncthreads();
    for (int distance = 1; distance < block_size; distance *= 2) {
        T left = t >= distance ? sums[t - distance] : T(0);
        __syncthreads(); // all have read before anyone writes
        sums[t] = left + sums[t];
        __syncthreads();
    }
    return {t > 0 ? sums[t - 1] : T(0), sums[t]};
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
