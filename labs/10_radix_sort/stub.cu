// Lab 10, radix sort: the file to edit. What each function must do: lab.hpp.
// The lesson: handouts/10_radix_sort.md. Stuck at a TODO: ./workbook hint 10.
//
// The launches below are in place, for one pass per digit and three kernels per
// pass: each block counts the digits of its tile; the counts of all tiles are
// scanned; then every block knows where its keys go. Change kernels, launches
// and scratch where your idea needs it.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, warps = block_size / 32;
constexpr int per_thread = 16, per_warp = 32 * per_thread, tile = block_size * per_thread;
constexpr int digit_bits = 4, digits = 1 << digit_bits, passes = 32 / digit_bits;
constexpr unsigned all_lanes = 0xffffffff;

static int blocks_for(int n, int each) { return n / each + (n % each != 0); }

static __device__ int lane() { return threadIdx.x % 32; }

// One bit for each lane before this one.
static __device__ unsigned lanes_below() { return (1u << lane()) - 1; }

// One warp per run.
static __global__ void sort_runs(unsigned *keys, int n)
{
    // TODO 1 (sort_warps): Let each lane keep a 32-bit mask of the lanes whose
    // keys go before its own. Begin with the lanes below it, as if all keys
    // were equal. Then go over the bits of the keys, from the lowest to the
    // highest, and let the lanes vote by __ballot_sync: what does a lane learn
    // if its bit is 1, and if it is 0? __popc of the mask is the place. Lanes
    // beyond n vote, too. A vote does not order memory accesses: __syncwarp()
    // must come between the lanes' loads and the stores that move other lanes'
    // keys.
}

void sort_warps(unsigned *keys, int n)
{
    if (n > 0) sort_runs<<<blocks_for(n, block_size), block_size>>>(keys, n);
    check_launch("sort_runs");
}

// The exclusive prefix sum of x in the block, and the sum over all threads.
struct block_sums {
    int before, all;
};
static __device__ block_sums add_up(int x)
{
    __shared__ int of_warps[warps];
    int up_to = x;
    for (int distance = 1; distance < 32; distance *= 2) {
        int left = __shfl_up_sync(all_lanes, up_to, distance);
        if (lane() >= distance) up_to += left;
    }
    __syncthreads(); // no thread still reads the sums of an earlier call
    if (lane() == 31) of_warps[threadIdx.x / 32] = up_to;
    __syncthreads();
    block_sums sums{up_to - x, 0};
    for (int w = 0; w < int(blockDim.x / 32); ++w) {
        if (w < int(threadIdx.x / 32)) sums.before += of_warps[w];
        sums.all += of_warps[w];
    }
    return sums;
}

// The digit that a pass sorts by.
struct pass {
    int shift;   // of the digit's lowest bit
    bool floats; // keys are the bits of floats
};

static __device__ int digit_of(unsigned key, pass p)
{
    // TODO 9 (radix_sort_floats): If keys are floats, flip bits of `key` so
    // that the order as unsigned numbers is that of the floats. Which bits must
    // be flipped in a negative number, and which in a positive one?
    return key >> p.shift & (digits - 1);
}

// This lane's first element. The others are 32, 64, ... further on: a warp has
// per_thread rows of 32 neighbours, one below the other.
static __device__ int first_element()
{
    return blockIdx.x * tile + threadIdx.x / 32 * per_warp + lane();
}

// counts is a matrix: one row per digit, one column per tile.
static __global__ void count_tiles(const unsigned *keys, int n, pass p, int *counts)
{
    // TODO 2 (radix_sort): Write into column blockIdx.x how many keys of the
    // tile have each digit. A row has gridDim.x elements. Count in shared
    // memory, with atomicAdd: for a count the order does not matter.
}

// One block per row: each count becomes the sum of those before it in the row,
// and totals[d] that of row d.
static __global__ void scan_counts(int *counts, int tiles, int *totals)
{
    // TODO 3 (radix_sort): Go along row blockIdx.x, one thread per count and
    // blockDim.x counts at a time. add_up returns the sum of those before each;
    // add the sum of all earlier rounds. All threads must call add_up each
    // time.
}

// The lanes of the warp with the same digit as this lane.
static __device__ unsigned peers_of(int digit)
{
    unsigned peers = all_lanes;
    // TODO 4 (radix_sort): Let the lanes vote on each bit of the digit, and
    // keep those that have voted like this one.
    return peers;
}

// Where keys and values come from and go to; values may be null.
struct arrays {
    const unsigned *keys, *values;
    unsigned *keys_to, *values_to;
};

// counts[d * gridDim.x + t]: how many keys of digit d are in the tiles before
// t; totals[d]: in all tiles.
static __global__ void place_tiles(arrays a, int n, pass p, const int *counts, const int *totals)
{
    // For each warp and digit, where its next key goes.
    __shared__ int next[warps][digits];

    // TODO 5 (radix_sort): Let each warp count the digits of its own keys in
    // its row of `next`: set the row to 0 first. Only one warp uses it so far,
    // so __syncwarp() is enough.

    // TODO 6 (radix_sort): Turn the counts into places, one thread per digit.
    // The first warp's first key of a digit goes behind all keys with a smaller
    // digit, whose number is add_up of the totals, and behind those of this
    // digit in earlier tiles; the next warp's go behind the first warp's.

    for (int k = 0; k < per_thread; ++k) {
        // TODO 7 (radix_sort): Load the key of this lane in row k; beyond n,
        // any will do. Find its peers; its place is `next` of its digit plus
        // the number of its peers in lower lanes. Store it there, if it is one
        // of the n. One of the peers advances `next` for all of them, once all
        // have read it.

        // TODO 8 (radix_sort_pairs): If there are values, store each at the
        // place of its key.
    }
}

// In ints: the counts and totals of one pass; all passes use the same.
static size_t counts_for(int n) { return size_t(digits) * (blocks_for(n, tile) + 1); }

// Sorts there and back: an even number of passes leaves the result in keys.
static void sort(unsigned *keys, unsigned *values, int n, void *scratch, bool floats)
{
    if (n == 0) return;
    int tiles = blocks_for(n, tile);
    int scan_size = tiles > block_size ? block_size : 32; // threads per row
    int *totals = static_cast<int *>(scratch), *counts = totals + digits;
    unsigned *other = reinterpret_cast<unsigned *>(totals + counts_for(n));
    unsigned *other_values = values ? other + n : nullptr;
    arrays there{keys, values, other, other_values}, back{other, other_values, keys, values};
    for (int k = 0; k < passes; ++k) {
        arrays a = k % 2 == 0 ? there : back;
        pass p{k * digit_bits, floats};
        count_tiles<<<tiles, block_size>>>(a.keys, n, p, counts);
        check_launch("count_tiles");
        scan_counts<<<digits, scan_size>>>(counts, tiles, totals);
        check_launch("scan_counts");
        place_tiles<<<tiles, block_size>>>(a, n, p, counts, totals);
        check_launch("place_tiles");
    }
    // TODO 10 (radix_sort: speed): When everything passes: how many passes, and
    // how often does a pass go over the keys? Try digits of 8 bits. Then count
    // the digits of all passes once, before the first: a pass needs only one
    // kernel if each tile publishes its counts and looks back at the states of
    // the tiles before it.
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
