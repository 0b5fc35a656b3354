// Lab 08, rung 2: `sum` adds up a warp by shuffles.
//
// New: sum_of_warp and sum_of_block, one barrier in place of the tree's nine (Luitjens 2014).
// Unchanged: histogram, histogram_tiles, histogram_range.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

// Adds to *out atomically. Of the 64-bit integers atomicAdd takes only unsigned ones; the bits of
// the sum are the same.
static __device__ void add_to(long long *out, long long x)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(out), static_cast<unsigned long long>(x));
}

// Returns the sum of x over the lanes of a warp to its lane 0.
static __device__ long long sum_of_warp(long long x)
{
    for (int distance = 16; distance > 0; distance /= 2) x += __shfl_down_sync(~0u, x, distance);
    return x;
}

// Returns the sum of x over the threads of a block to its thread 0: one barrier, between the sums
// of the warps and the sum of these.
static __device__ long long sum_of_block(long long x)
{
    constexpr int warps = block_size / 32;
    __shared__ long long sums[warps];
    x = sum_of_warp(x);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x >= 32) return 0;
    return sum_of_warp(threadIdx.x < warps ? sums[threadIdx.x] : 0);
}

static __global__ void add_by_warps(const int *in, long long *out, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    long long x = sum_of_block(i < n ? in[i] : 0);
    if (threadIdx.x == 0) add_to(out, x);
}

void sum(const int *in, long long *out, int n)
{
    check(cudaMemsetAsync(out, 0, sizeof *out), "clearing the sum");
    if (n > 0) add_by_warps<<<(n + block_size - 1) / block_size, block_size>>>(in, out, n);
    check_launch("add_by_warps");
}
