// Parts of a block that rungs 2 to 4 of lab 10 share; the solution defines its own.
#pragma once

#include <cuda_runtime.h>

constexpr int block_size = 256, warps = block_size / 32;
constexpr int per_thread = 16, per_warp = 32 * per_thread, tile = block_size * per_thread;
constexpr unsigned all_lanes = 0xffffffff;

static int blocks_for(int n, int each) { return n / each + (n % each != 0); }

static __device__ int lane() { return threadIdx.x % 32; }

// One bit for each lane before this one.
static __device__ unsigned lanes_below() { return (1u << lane()) - 1; }

// The exclusive prefix sum of x in the block, and the sum over all threads.
struct block_sums {
    int exclusive, all;
};
static __device__ block_sums add_up(int x)
{
    __shared__ int of_warps[warps];
    int inclusive = x;
    for (int distance = 1; distance < 32; distance *= 2) {
        int left = __shfl_up_sync(all_lanes, inclusive, distance);
        if (lane() >= distance) inclusive += left;
    }
    __syncthreads(); // no thread still reads the sums of an earlier call
    if (lane() == 31) of_warps[threadIdx.x / 32] = inclusive;
    __syncthreads();
    block_sums sums{inclusive - x, 0};
    for (int w = 0; w < warps; ++w) {
        if (w < int(threadIdx.x / 32)) sums.exclusive += of_warps[w];
        sums.all += of_warps[w];
    }
    return sums;
}

// Where keys and values come from and go to; values may be null.
struct arrays {
    const unsigned *keys, *values;
    unsigned *keys_to, *values_to;
};
