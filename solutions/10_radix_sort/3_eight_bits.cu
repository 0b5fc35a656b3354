// Lab 10, rung 3: digits of 8 bits, 4 passes. There are as many digits as threads in a block, so
// that each thread handles one of them.
//
// Unchanged: sort_warps.
#include "../check.hpp"
#include "blocks.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int digit_bits = 8, digits = 1 << digit_bits, passes = 32 / digit_bits;
static_assert(block_size == digits, "a thread of each block looks after one digit");

// The digit that a pass sorts by.
struct pass {
    int shift;   // of the digit's lowest bit
    bool floats; // keys are the bits of floats
};

// Flips bits of floats so that their order as unsigned numbers is that of the floats: all bits of
// negative ones, the sign of positive ones.
static __device__ int digit_of(unsigned key, pass p)
{
    if (p.floats) key ^= key >> 31 ? 0xffffffff : 0x80000000;
    return key >> p.shift & (digits - 1);
}

// This lane's first element. The others are 32, 64, ... further on: a warp has per_thread rows of
// 32 neighbours, one below the other.
static __device__ int first_element()
{
    return blockIdx.x * tile + threadIdx.x / 32 * per_warp + lane();
}

// counts is a matrix: one row per digit, one column per tile.
static __global__ void count_tiles(const unsigned *keys, int n, pass p, int *counts)
{
    __shared__ int here[digits];
    here[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < per_thread; ++k) {
        int i = first_element() + 32 * k;
        if (i < n) atomicAdd(&here[digit_of(keys[i], p)], 1);
    }
    __syncthreads();
    counts[threadIdx.x * gridDim.x + blockIdx.x] = here[threadIdx.x];
}

// One block per row: each count becomes the sum of those before it in the row, and totals[d] that
// of row d.
static __global__ void scan_counts(int *counts, int tiles, int *totals)
{
    int *row = counts + blockIdx.x * tiles, before = 0;
    for (int first = 0; first < tiles; first += block_size) {
        int t = first + threadIdx.x;
        block_sums sums = add_up(t < tiles ? row[t] : 0);
        if (t < tiles) row[t] = before + sums.exclusive;
        before += sums.all;
    }
    if (threadIdx.x == 0) totals[blockIdx.x] = before;
}

// The lanes of the warp with the same digit as this lane.
static __device__ unsigned peers_of(int digit)
{
    unsigned peers = all_lanes;
    for (int bit = 0; bit < digit_bits; ++bit) {
        bool one = digit >> bit & 1;
        unsigned ones = __ballot_sync(all_lanes, one);
        peers &= one ? ones : ~ones;
    }
    return peers;
}

// counts[d * gridDim.x + t]: how many keys of digit d are in the tiles before t; totals[d]: in all
// tiles.
static __global__ void place_tiles(arrays a, int n, pass p, const int *counts, const int *totals)
{
    __shared__ int next[warps][digits]; // where a warp's next key of a digit goes

    // First the counts of each warp.
    int warp = threadIdx.x / 32;
    for (int d = lane(); d < digits; d += 32) next[warp][d] = 0;
    __syncwarp();
    for (int k = 0; k < per_thread; ++k) {
        int i = first_element() + 32 * k;
        if (i < n) atomicAdd(&next[warp][digit_of(a.keys[i], p)], 1);
    }

    // Behind all keys with a smaller digit, those of earlier tiles, and those of earlier warps.
    int d = threadIdx.x, to = add_up(totals[d]).exclusive + counts[d * gridDim.x + blockIdx.x];
    for (int w = 0; w < warps; ++w) {
        int count = next[w][d];
        next[w][d] = to;
        to += count;
    }
    __syncthreads();

    for (int k = 0; k < per_thread; ++k) {
        int i = first_element() + 32 * k;
        // A lane beyond n votes too; any digit will do, for all lanes with a key are below it.
        unsigned key = i < n ? a.keys[i] : 0;
        int digit = digit_of(key, p);
        unsigned peers = peers_of(digit), below = peers & lanes_below();
        int to = next[warp][digit] + __popc(below);
        __syncwarp();
        if (below == 0) next[warp][digit] += __popc(peers);
        __syncwarp();
        if (i < n) a.keys_to[to] = key;
        if (i < n && a.values) a.values_to[to] = a.values[i];
    }
}

// In ints: the counts and totals of one pass; all passes use the same.
static size_t counts_for(int n) { return size_t(digits) * (blocks_for(n, tile) + 1); }

// Sorts there and back: an even number of passes leaves the result in keys.
static void sort(unsigned *keys, unsigned *values, int n, void *scratch, bool floats)
{
    if (n == 0) return;
    int tiles = blocks_for(n, tile);
    int *totals = static_cast<int *>(scratch), *counts = totals + digits;
    unsigned *other = reinterpret_cast<unsigned *>(totals + counts_for(n));
    unsigned *other_values = values ? other + n : nullptr;
    arrays there{keys, values, other, other_values}, back{other, other_values, keys, values};
    for (int k = 0; k < passes; ++k) {
        arrays a = k % 2 == 0 ? there : back;
        pass p{k * digit_bits, floats};
        count_tiles<<<tiles, block_size>>>(a.keys, n, p, counts);
        scan_counts<<<digits, block_size>>>(counts, tiles, totals);
        place_tiles<<<tiles, block_size>>>(a, n, p, counts, totals);
    }
    check_launch("count_tiles, scan_counts or place_tiles");
}

static size_t keys_and_counts(int n) { return sizeof(unsigned) * n + sizeof(int) * counts_for(n); }

size_t radix_sort_scratch(int n) { return keys_and_counts(n); }
void radix_sort(unsigned *keys, int n, void *scratch) { sort(keys, nullptr, n, scratch, false); }

size_t radix_sort_pairs_scratch(int n) { return keys_and_counts(n) + sizeof(unsigned) * n; }
void radix_sort_pairs(unsigned *keys, unsigned *values, int n, void *scratch)
{
    sort(keys, values, n, scratch, false);
}

size_t radix_sort_floats_scratch(int n) { return keys_and_counts(n); }
void radix_sort_floats(float *keys, int n, void *scratch)
{
    sort(reinterpret_cast<unsigned *>(keys), nullptr, n, scratch, true);
}
