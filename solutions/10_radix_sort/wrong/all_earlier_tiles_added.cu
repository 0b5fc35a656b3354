// Fails: radix_sort: launches | TOO_SLOW | bytes read per key beyond those with few keys
// On gpu: may pass - only the clock tells there, and not in that case
// Two launches per pass and no scan: each tile adds up the counts of all tiles before it, which is
// right, and reads 34 bytes per key for 300 000 keys and 7000 for 2^26.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, warps = block_size / 32, rows = 16, tile = block_size * rows;
constexpr int digits = 256;

static __device__ int digit_of(unsigned key, int shift) { return key >> shift & (digits - 1); }
static __device__ int first_of_tile()
{
    return blockIdx.x * tile + threadIdx.x / 32 * (32 * rows) + threadIdx.x % 32;
}

// One block per tile: counts[t * digits + d] of digit d in tile t, and the totals.
static __global__ void count_tiles(const unsigned *keys, int n, int shift, int *counts, int *totals)
{
    __shared__ int here[digits];
    here[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0, i = first_of_tile(); k < rows && i < n; ++k, i += 32)
        atomicAdd(&here[digit_of(keys[i], shift)], 1);
    __syncthreads();
    counts[blockIdx.x * digits + threadIdx.x] = here[threadIdx.x];
    atomicAdd(&totals[threadIdx.x], here[threadIdx.x]);
}

static __global__ void place_tiles(const unsigned *keys, unsigned *to, int n, int shift,
                                   const int *counts, const int *totals)
{
    __shared__ int next[warps][digits], smaller[digits];
    int d = threadIdx.x, lane = threadIdx.x % 32, *mine = next[threadIdx.x / 32];
    for (int w = 0; w < warps; ++w) next[w][d] = 0;
    smaller[d] = totals[d];
    __syncthreads();
    unsigned own[rows];
    for (int k = 0, i = first_of_tile(); k < rows; ++k, i += 32) {
        own[k] = i < n ? keys[i] : 0xffffffff;
        if (i < n) atomicAdd(&mine[digit_of(own[k], shift)], 1);
    }
    for (int distance = 1; distance < digits; distance *= 2) {
        int left = d >= distance ? smaller[d - distance] : 0;
        __syncthreads();
        smaller[d] += left;
        __syncthreads();
    }
    int start = smaller[d] - totals[d];
    for (int t = 0; t < int(blockIdx.x); ++t) start += counts[t * digits + d]; // all of them
    for (int w = 0; w < warps; ++w) {
        int count = next[w][d];
        next[w][d] = start;
        start += count;
    }
    __syncthreads();
    for (int k = 0, i = first_of_tile(); k < rows; ++k, i += 32) {
        int digit = digit_of(own[k], shift);
        unsigned peers = __match_any_sync(0xffffffff, i < n ? digit : digits);
        unsigned below = peers & ((1u << lane) - 1);
        if (i < n) to[mine[digit] + __popc(below)] = own[k];
        __syncwarp();
        if (i < n && below == 0) mine[digit] += __popc(peers);
        __syncwarp();
    }
}

static int tiles_for(int n) { return n / tile + (n % tile != 0); }

size_t radix_sort_scratch(int n) { return sizeof(int) * (size_t(digits) * (tiles_for(n) + 4) + n); }
void radix_sort(unsigned *keys, int n, void *scratch)
{
    if (n == 0) return;
    int tiles = tiles_for(n), *totals = static_cast<int *>(scratch), *counts = totals + 4 * digits;
    unsigned *other = reinterpret_cast<unsigned *>(counts + digits * tiles);
    cudaMemsetAsync(totals, 0, sizeof(int) * 4 * digits);
    for (int pass = 0; pass < 4; ++pass, totals += digits) {
        const unsigned *from = pass % 2 == 0 ? keys : other;
        unsigned *to = pass % 2 == 0 ? other : keys;
        count_tiles<<<tiles, block_size>>>(from, n, 8 * pass, counts, totals);
        place_tiles<<<tiles, block_size>>>(from, to, n, 8 * pass, counts, totals);
    }
}

void sort_warps(unsigned *, int) {}

size_t radix_sort_pairs_scratch(int) { return 0; }
void radix_sort_pairs(unsigned *, unsigned *, int, void *) {}

size_t radix_sort_floats_scratch(int) { return 0; }
void radix_sort_floats(float *, int, void *) {}
