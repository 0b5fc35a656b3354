// Fails: scan_inclusive_float: small sums before large ones | WRONG_ANSWER | as if they included it
// What comes before is computed as what comes with it, less itself.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 1024;

static int blocks_for(int n) { return n / block_size + (n % block_size != 0); }

template <class T> static __device__ T sum_in_warp(T x)
{
    for (int distance = 1; distance < 32; distance *= 2) {
        T left = __shfl_up_sync(0xffffffff, x, distance);
        if (int(threadIdx.x % 32) >= distance) x += left;
    }
    return x;
}

template <class T> static __device__ T sum_in_block(T x)
{
    __shared__ T of_warps[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    T sum = sum_in_warp(x);
    if (lane == 31) of_warps[warp] = sum;
    __syncthreads();
    if (warp == 0) of_warps[lane] = sum_in_warp(of_warps[lane]);
    __syncthreads();
    if (warp > 0) sum += of_warps[warp - 1];
    return sum;
}

template <class T> static __global__ void scan_blocks(const T *in, T *out, int n, T *block_sums)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    T sum = sum_in_block(i < n ? in[i] : T(0));
    if (i < n) out[i] = sum;
    if (threadIdx.x == block_size - 1) block_sums[blockIdx.x] = sum;
}

template <class T> static __global__ void scan_sums(T *block_sums, int blocks)
{
    int t = threadIdx.x, run = (blocks + block_size - 1) / block_size;
    int first = min(t * run, blocks), last = min(first + run, blocks);
    T of_run = 0;
    for (int b = first; b < last; ++b) of_run += block_sums[b];
    T before = sum_in_block(of_run) - of_run;
    for (int b = first; b < last; ++b) {
        T here = block_sums[b];
        block_sums[b] = before;
        before += here;
    }
}

template <class T> static __global__ void add_before(T *out, int n, const T *block_sums)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) out[i] += block_sums[blockIdx.x];
}

template <class T> static void scan(const T *in, T *out, int n, void *scratch)
{
    T *block_sums = static_cast<T *>(scratch);
    int blocks = blocks_for(n);
    if (blocks == 0) return;
    scan_blocks<<<blocks, block_size>>>(in, out, n, block_sums);
    scan_sums<<<1, block_size>>>(block_sums, blocks);
    add_before<<<blocks, block_size>>>(out, n, block_sums);
}

size_t scan_inclusive_float_scratch(int n) { return sizeof(float) * blocks_for(n); }
void scan_inclusive_float(const float *in, float *out, int n, void *scratch)
{
    scan(in, out, n, scratch);
}

// Not begun.
void scan_block_inclusive(const int *, int *, int) {}
void scan_block_exclusive(const int *, int *, int) {}
size_t scan_inclusive_scratch(int) { return 0; }
void scan_inclusive(const int *, int *, int, void *) {}
size_t scan_exclusive_scratch(int) { return 0; }
void scan_exclusive(const int *, int *, int, void *) {}
size_t scan_inclusive_int64_scratch(int) { return 0; }
void scan_inclusive_int64(const std::int64_t *, std::int64_t *, int, void *) {}
