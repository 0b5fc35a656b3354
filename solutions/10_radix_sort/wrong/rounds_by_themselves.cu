// Fails: radix_sort: more tiles than a round | RACE | of `keys`
// On gpu: radix_sort: many tiles | WRONG_ANSWER |
// A row of counts is scanned 32 at a time, and no round knows what earlier ones have summed up.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int rows = 128, tile = 32 * rows, digits = 256;

static __device__ int digit_of(unsigned key, int shift) { return key >> shift & (digits - 1); }

// One warp per tile: counts[d * gridDim.x + t] of digit d in tile t.
static __global__ void count_tiles(const unsigned *keys, int n, int shift, int *counts)
{
    __shared__ int here[digits];
    for (int d = threadIdx.x; d < digits; d += 32) here[d] = 0;
    __syncwarp();
    for (int k = 0, i = blockIdx.x * tile + threadIdx.x; k < rows && i < n; ++k, i += 32)
        atomicAdd(&here[digit_of(keys[i], shift)], 1);
    __syncwarp();
    for (int d = threadIdx.x; d < digits; d += 32) counts[d * gridDim.x + blockIdx.x] = here[d];
}

static __global__ void scan_counts(int *counts, int tiles, int *totals)
{
    int *row = counts + blockIdx.x * tiles, total = 0;
    for (int first = 0; first < tiles; first += 32) {
        int t = first + threadIdx.x, count = t < tiles ? row[t] : 0, up_to = count;
        for (int distance = 1; distance < 32; distance *= 2) {
            int left = __shfl_up_sync(0xffffffff, up_to, distance);
            if (int(threadIdx.x) >= distance) up_to += left;
        }
        if (t < tiles) row[t] = up_to - count;
        total += __shfl_sync(0xffffffff, up_to, 31);
    }
    if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

static __global__ void place_tiles(const unsigned *keys, unsigned *to, int n, int shift,
                                   const int *counts, const int *totals)
{
    __shared__ int next[digits];
    if (threadIdx.x == 0) {
        int smaller = 0;
        for (int d = 0; d < digits; ++d) {
            next[d] = smaller + counts[d * gridDim.x + blockIdx.x];
            smaller += totals[d];
        }
    }
    __syncwarp();
    for (int k = 0, i = blockIdx.x * tile + threadIdx.x; k < rows; ++k, i += 32) {
        unsigned key = i < n ? keys[i] : 0;
        int digit = digit_of(key, shift);
        unsigned peers = __match_any_sync(0xffffffff, i < n ? digit : digits);
        unsigned below = peers & ((1u << threadIdx.x) - 1);
        if (i < n) to[next[digit] + __popc(below)] = key;
        __syncwarp();
        if (i < n && below == 0) next[digit] += __popc(peers);
        __syncwarp();
    }
}

static int tiles_for(int n) { return n / tile + 1; }

size_t radix_sort_scratch(int n) { return sizeof(unsigned) * (n + digits * (tiles_for(n) + 1)); }
void radix_sort(unsigned *keys, int n, void *scratch)
{
    unsigned *before = static_cast<unsigned *>(scratch);
    int tiles = tiles_for(n), *totals = static_cast<int *>(scratch) + n, *counts = totals + digits;
    if (n == 0) return;
    for (int shift = 0; shift < 32; shift += 8) {
        cudaMemcpyAsync(before, keys, sizeof(unsigned) * n, cudaMemcpyDeviceToDevice);
        count_tiles<<<tiles, 32>>>(before, n, shift, counts);
        scan_counts<<<digits, 32>>>(counts, tiles, totals);
        place_tiles<<<tiles, 32>>>(before, keys, n, shift, counts, totals);
    }
}

void sort_warps(unsigned *, int) {}

size_t radix_sort_pairs_scratch(int) { return 0; }
void radix_sort_pairs(unsigned *, unsigned *, int, void *) {}

size_t radix_sort_floats_scratch(int) { return 0; }
void radix_sort_floats(float *, int, void *) {}
