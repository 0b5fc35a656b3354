// Lab 10, rung 4: one sweep per digit (Adinets and Merrill, Onesweep, 2022). How often each digit
// occurs does not depend on the order of the keys, so one kernel counts for all passes; and a tile
// learns the counts of the tiles before it by looking back at their states (lab 06). Each key is
// read once per pass.
//
// Unchanged: sort_warps.
#include "../check.hpp"
#include "blocks.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int digit_bits = 8, digits = 1 << digit_bits, passes = 32 / digit_bits;
constexpr int counted_by_block = 128 * block_size; // keys
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

// Counts how often each digit of each pass occurs.
static __global__ void count_digits(const unsigned *keys, int n, bool floats, int *counts)
{
    __shared__ int here[passes][digits];
    for (int k = 0; k < passes; ++k) here[k][threadIdx.x] = 0;
    __syncthreads();
    int first = blockIdx.x * counted_by_block, last = min(n - first, counted_by_block) + first;
    for (int i = first + threadIdx.x; i < last; i += block_size) {
        unsigned key = keys[i];
        for (int k = 0; k < passes; ++k)
            atomicAdd(&here[k][digit_of(key, {k * digit_bits, floats})], 1);
    }
    __syncthreads();
    for (int k = 0; k < passes; ++k)
        atomicAdd(&counts[k * digits + threadIdx.x], here[k][threadIdx.x]);
}

// One block per pass: where in the sorted array each digit begins.
static __global__ void scan_digits(int *counts)
{
    int *mine = counts + blockIdx.x * digits + threadIdx.x;
    *mine = add_up(*mine).exclusive;
}

// The state of one digit of a tile: invalid, aggregate, or inclusive prefix (Merrill and Garland,
// 2016), in one word with the count, so that no fence is needed. A count of 2^30 does not fit, but
// only the last tile can have it, and no tile reads that one.
using word = unsigned;
constexpr word invalid = 0, aggregate = 1u << 30, prefix = 2u << 30, count_of = aggregate - 1;

// For one pass: the tiles' states, one row of words per tile; where digits begin; tiles taken.
struct tile_states {
    volatile word *states;
    const int *starts;
    int *taken;
};

// A block takes its tile when it starts, so that the blocks of all earlier tiles are already
// running, in whatever order blocks start.
static __device__ int next_tile(int *taken)
{
    __shared__ int t;
    if (threadIdx.x == 0) t = atomicAdd(taken, 1);
    __syncthreads();
    return t;
}

// Returns how many keys of this thread's digit are in the tiles before t.
static __device__ int look_back(const volatile word *states, int t)
{
    int before = 0;
    while (t > 0) {
        word w = states[(t - 1) * digits + threadIdx.x];
        if (w == invalid) continue; // look again
        before += w & count_of;
        if (w & prefix) break;
        --t;
    }
    return before;
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

static __global__ void __launch_bounds__(block_size)
    sort_tiles(arrays a, int n, pass p, tile_states b)
{
    __shared__ int next[warps][digits]; // where a warp's next key of a digit goes

    // A warp has rows of 32 neighbours, one below the other. Beyond n any key will do: it comes
    // behind all others of the tile, and no tile reads the states of the last one.
    int t = next_tile(b.taken), d = threadIdx.x, *mine = next[threadIdx.x / 32];
    int first = t * tile + threadIdx.x / 32 * per_warp + lane();
    unsigned keys[per_thread];
    for (int k = 0; k < per_thread; ++k) {
        int i = first + 32 * k;
        keys[k] = i < n ? a.keys[i] : 0;
    }

    // First the counts of each warp.
    for (int k = lane(); k < digits; k += 32) mine[k] = 0;
    __syncwarp();
    for (unsigned key : keys) atomicAdd(&mine[digit_of(key, p)], 1);
    __syncthreads();
    int of_tile = 0;
    for (int w = 0; w < warps; ++w) of_tile += next[w][d];

    // Behind all keys with a smaller digit, those of earlier tiles, and those of earlier warps.
    b.states[t * digits + d] = (t == 0 ? prefix : aggregate) | of_tile;
    int before = look_back(b.states, t), to = b.starts[d] + before;
    if (t > 0) b.states[t * digits + d] = prefix | word(before + of_tile);
    for (int w = 0; w < warps; ++w) {
        int count = next[w][d];
        next[w][d] = to;
        to += count;
    }
    __syncthreads();

    for (int k = 0; k < per_thread; ++k) {
        int i = first + 32 * k, digit = digit_of(keys[k], p);
        unsigned peers = peers_of(digit), below = peers & lanes_below();
        int to = mine[digit] + __popc(below);
        __syncwarp();
        if (below == 0) mine[digit] += __popc(peers);
        __syncwarp();
        if (i < n) a.keys_to[to] = keys[k];
        if (i < n && a.values) a.values_to[to] = a.values[i];
    }
}

// Ints to clear, in rows of `digits`: one row per tile and pass, the counts of each pass, and the
// tiles taken.
static size_t cleared_for(int n)
{
    return size_t(digits) * (size_t(passes) * blocks_for(n, tile) + passes + 1);
}

// Sorts there and back: an even number of passes leaves the result in keys.
static void sort(unsigned *keys, unsigned *values, int n, void *scratch, bool floats)
{
    if (n == 0) return;
    int tiles = blocks_for(n, tile);
    word *states = static_cast<word *>(scratch);
    int *counts = reinterpret_cast<int *>(states + size_t(passes) * tiles * digits);
    int *taken = counts + passes * digits;
    unsigned *other = states + cleared_for(n);
    unsigned *other_values = values ? other + n : nullptr;

    check(cudaMemsetAsync(scratch, 0, sizeof(int) * cleared_for(n)), "clearing the tile states");
    count_digits<<<blocks_for(n, counted_by_block), block_size>>>(keys, n, floats, counts);
    scan_digits<<<passes, digits>>>(counts);
    arrays there{keys, values, other, other_values}, back{other, other_values, keys, values};
    for (int k = 0; k < passes; ++k) {
        tile_states b{states + size_t(k) * tiles * digits, counts + k * digits, taken + k};
        sort_tiles<<<tiles, block_size>>>(k % 2 == 0 ? there : back, n, {k * digit_bits, floats},
                                          b);
    }
    check_launch("count_digits, scan_digits or sort_tiles");
}

static size_t keys_and_counts(int n) { return sizeof(unsigned) * n + sizeof(int) * cleared_for(n); }

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
