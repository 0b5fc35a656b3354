// Lab 10, worked: one sweep per digit (Adinets and Merrill, Onesweep, 2022), and a tile's keys are
// sorted by digit in shared memory first, so that stores are coalesced.
//
// From rung 4: the counts of all digits up front, the tile states and the look-back. New: `staged`;
// a tile publishes its counts before it ranks its keys, so that no tile waits for the ranking;
// look-back loads several states at a time; and as many keys per thread as its registers hold.
// Moving the keys is the smaller part of the time, so the code saves instructions in ranking.
// Same points: a sort that stores its keys uncoalesced has all points, too; the clock sees it.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, warps = block_size / 32;
constexpr int blocks_at_once = 3; // on a multiprocessor: 80 registers per thread
constexpr int digit_bits = 8, digits = 1 << digit_bits, passes = 32 / digit_bits;
constexpr unsigned all_lanes = 0xffffffff;
static_assert(block_size == digits, "a thread of each block looks after one digit");

static int tiles_for(int n, int tile) { return n / tile + (n % tile != 0); }

static __device__ int lane() { return threadIdx.x % 32; }
static __device__ unsigned lanes_below() { return (1u << lane()) - 1; }

// Returns x, hidden from the optimizer: a bit is then tested once for both the vote and the select,
// which takes 3 instructions per vote instead of 7.
static __device__ unsigned opaque(unsigned x)
{
    asm("" : "+r"(x));
    return x;
}

// One warp per run. Bit by bit from the lowest, `before` is the lanes whose keys go before this
// lane's.
static __global__ void sort_runs(unsigned *keys, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    unsigned key = i < n ? keys[i] : 0xffffffff, before = lanes_below();
#pragma unroll
    for (int bit = 0; bit < 32; ++bit) {
        unsigned one = opaque(key & 1u << bit);
        unsigned zeros = ~__ballot_sync(all_lanes, one);
        before = one ? before | zeros : before & zeros;
    }
    __syncwarp(); // all have read before any lane writes
    if (i < n) keys[i - lane() + __popc(before)] = key;
}

void sort_warps(unsigned *keys, int n)
{
    if (n == 0) return;
    sort_runs<<<tiles_for(n, block_size), block_size>>>(keys, n);
    check_launch("sort_runs");
}

// The digit a pass sorts by. Flips bits of floats so that their order as unsigned numbers is that
// of the floats: all bits of negative ones, the sign of positive ones.
template <bool floats> static __device__ int digit_of(unsigned key, int shift)
{
    if (floats) key ^= unsigned(int(key) >> 31) | 0x80000000;
    return key >> shift & (digits - 1);
}

// The lanes of the warp with the same digit as this lane.
static __device__ unsigned peers_of(int digit)
{
    unsigned peers = all_lanes;
#pragma unroll
    for (int bit = 0; bit < digit_bits; ++bit) {
        unsigned one = opaque(digit & 1 << bit);
        unsigned ones = __ballot_sync(all_lanes, one);
        peers &= one ? ones : ~ones;
    }
    return peers;
}

// The exclusive prefix sum of x in the block.
static __device__ int sum_before(int x)
{
    __shared__ int of_warps[warps];
    int inclusive = x;
    for (int distance = 1; distance < 32; distance *= 2) {
        int left = __shfl_up_sync(all_lanes, inclusive, distance);
        if (lane() >= distance) inclusive += left;
    }
    if (lane() == 31) of_warps[threadIdx.x / 32] = inclusive;
    __syncthreads();
    int before = inclusive - x;
    for (int w = 0; w < int(threadIdx.x / 32); ++w) before += of_warps[w];
    return before;
}

// Counts how often each digit of each pass occurs, which does not depend on the order of the keys.
constexpr int counted_at_once = 8, counted_by_block = 16 * counted_at_once * block_size;

template <bool floats> static __global__ void __launch_bounds__(block_size)
    count_digits(const unsigned *keys, int n, int *counts)
{
    __shared__ int here[passes][digits];
    for (int pass = 0; pass < passes; ++pass) here[pass][threadIdx.x] = 0;
    __syncthreads();
    int first = blockIdx.x * counted_by_block, last = min(n - first, counted_by_block) + first;
    for (int i = first + threadIdx.x; i < last; i += counted_at_once * block_size) {
        unsigned mine[counted_at_once];
        for (int k = 0; k < counted_at_once; ++k)
            if (i + k * block_size < last) mine[k] = keys[i + k * block_size];
        for (int k = 0; k < counted_at_once; ++k)
            if (i + k * block_size < last)
                for (int pass = 0; pass < passes; ++pass)
                    atomicAdd(&here[pass][digit_of<floats>(mine[k], pass * digit_bits)], 1);
    }
    __syncthreads();
    for (int pass = 0; pass < passes; ++pass)
        atomicAdd(&counts[pass * digits + threadIdx.x], here[pass][threadIdx.x]);
}

// One block per pass: where in the sorted array each digit begins.
static __global__ void scan_digits(int *counts)
{
    int *mine = counts + blockIdx.x * digits + threadIdx.x;
    *mine = sum_before(*mine);
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

// Returns how many keys of this thread's digit are in the tiles before t. Several loads are in
// flight at a time, because there is usually more than one tile to look at.
static __device__ int look_back(const volatile word *states, int t)
{
    constexpr int at_once = 4;
    int before = 0;
    for (int nearest = t - 1; nearest >= 0;) {
        word w[at_once];
        for (int k = 0; k < at_once; ++k)
            w[k] = k <= nearest ? states[(nearest - k) * digits + threadIdx.x] : prefix;
#pragma unroll
        for (int k = 0; k < at_once; ++k) {
            if (w[k] == invalid) break; // look again, from here on
            before += w[k] & count_of;
            if (w[k] & prefix) return before;
            --nearest;
        }
    }
    return before;
}

// The larger the tiles, the fewer there are to look back at. A pair needs a few more registers.
template <bool pairs> constexpr int per_thread = pairs ? 23 : 27;
template <bool pairs> constexpr int tile = block_size *per_thread<pairs>;

// Where keys and, in pairs, values come from and go to.
struct arrays {
    const unsigned *keys, *values;
    unsigned *keys_to, *values_to;
};

// `same_shift` equals `shift`, but the compiler does not know that: otherwise it would keep every
// digit in a register from counting to ranking.
template <bool floats, bool pairs>
static __global__ void __launch_bounds__(block_size, blocks_at_once)
    sort_tiles(arrays a, int n, int shift, int same_shift, tile_states b)
{
    __shared__ int next[warps][digits];      // where in the tile a warp's next key of a digit goes
    __shared__ unsigned staged[tile<pairs>]; // the keys, and once they are stored, the values
    __shared__ int offsets[digits];          // from there to the place in the array

    constexpr int rows = per_thread<pairs>;
    int t = next_tile(b.taken), digit = threadIdx.x, *mine = next[threadIdx.x / 32];
    int first = t * tile<pairs> + threadIdx.x / 32 * 32 * rows + lane();

    // A warp has rows of 32 neighbours, one below the other. Lanes beyond n get the key that goes
    // to the tile's end.
    unsigned keys[rows];
    int places[rows];
    for (int k = 0; k < rows; ++k) {
        int i = first + 32 * k;
        keys[k] = i < n ? a.keys[i] : floats ? 0x7fffffff : 0xffffffff;
    }

    for (int k = 0; k < digits / 32; ++k) mine[32 * k + lane()] = 0;
    __syncwarp();
    for (unsigned key : keys) atomicAdd(&mine[digit_of<floats>(key, shift)], 1);
    __syncthreads();

    int of_warps[warps], of_tile = 0;
    for (int w = 0; w < warps; ++w) {
        of_warps[w] = next[w][digit];
        of_tile += of_warps[w];
    }
    b.states[t * digits + digit] = (t == 0 ? prefix : aggregate) | of_tile;
    int start = sum_before(of_tile), offset = b.starts[digit] - start;
    for (int w = 0, to = start; w < warps; ++w) {
        next[w][digit] = to;
        to += of_warps[w];
    }
    __syncthreads();

#pragma unroll
    for (int k = 0; k < rows; ++k) {
        int d = digit_of<floats>(keys[k], same_shift);
        unsigned peers = peers_of(d);
        places[k] = mine[d] + __popc(peers & lanes_below());
        __syncwarp(); // all peers have read before the last of them writes
        if (peers >> lane() == 1) mine[d] = places[k] + 1;
        __syncwarp();
        staged[places[k]] = keys[k];
    }

    int before = look_back(b.states, t);
    if (t > 0) b.states[t * digits + digit] = prefix | word(before + of_tile);
    offsets[digit] = offset + before;
    __syncthreads();

    // All loads first, so that they are in flight together.
    int count = min(tile<pairs>, n - t * tile<pairs>), to[rows];
    for (int k = 0; k < rows; ++k) {
        int from = threadIdx.x + k * block_size;
        keys[k] = staged[from];
        to[k] = offsets[digit_of<floats>(keys[k], shift)] + from;
    }
    for (int k = 0; k < rows; ++k)
        if (int(threadIdx.x) + k * block_size < count) a.keys_to[to[k]] = keys[k];
    if constexpr (pairs) {
        unsigned values[rows];
        for (int k = 0; k < rows; ++k)
            values[k] = first + 32 * k < n ? a.values[first + 32 * k] : 0;
        __syncthreads(); // the last key has been stored
        for (int k = 0; k < rows; ++k) staged[places[k]] = values[k];
        __syncthreads();
        for (int k = 0; k < rows; ++k) {
            int from = threadIdx.x + k * block_size;
            if (from < count) a.values_to[to[k]] = staged[from];
        }
    }
}

// Scratch: first the ints to clear, in rows of `digits`, so that all begin at a multiple of 256
// bytes: one row per tile and pass, the counts of each pass, and the tiles taken. Then the second
// buffer of the keys, and that of the values.
template <bool pairs> static size_t cleared_for(int n)
{
    return size_t(digits) * (size_t(passes) * tiles_for(n, tile<pairs>) + passes + 1);
}
template <bool pairs> static size_t scratch_for(int n)
{
    return sizeof(int) * (cleared_for<pairs>(n) + size_t(n) * (pairs ? 2 : 1));
}

template <bool floats, bool pairs>
static void sort(unsigned *keys, unsigned *values, int n, void *scratch)
{
    if (n == 0) return;
    int tiles = tiles_for(n, tile<pairs>);
    word *states = static_cast<word *>(scratch);
    int *counts = reinterpret_cast<int *>(states + size_t(passes) * tiles * digits);
    int *taken = counts + passes * digits;
    unsigned *other = states + cleared_for<pairs>(n), *other_values = pairs ? other + n : nullptr;

    check(cudaMemsetAsync(scratch, 0, sizeof(int) * cleared_for<pairs>(n)),
          "clearing the tile states");
    count_digits<floats><<<tiles_for(n, counted_by_block), block_size>>>(keys, n, counts);
    scan_digits<<<passes, digits>>>(counts);
    arrays there{keys, values, other, other_values}, back{other, other_values, keys, values};
    for (int pass = 0; pass < passes; ++pass) {
        tile_states b{states + size_t(pass) * tiles * digits, counts + pass * digits, taken + pass};
        sort_tiles<floats, pairs><<<tiles, block_size>>>(pass % 2 == 0 ? there : back, n,
                                                         pass * digit_bits, pass * digit_bits, b);
    }
    check_launch("count_digits, scan_digits or sort_tiles");
}

size_t radix_sort_scratch(int n) { return scratch_for<false>(n); }
void radix_sort(unsigned *keys, int n, void *scratch)
{
    sort<false, false>(keys, nullptr, n, scratch);
}

size_t radix_sort_pairs_scratch(int n) { return scratch_for<true>(n); }
void radix_sort_pairs(unsigned *keys, unsigned *values, int n, void *scratch)
{
    sort<false, true>(keys, values, n, scratch);
}

size_t radix_sort_floats_scratch(int n) { return scratch_for<false>(n); }
void radix_sort_floats(float *keys, int n, void *scratch)
{
    sort<true, false>(reinterpret_cast<unsigned *>(keys), nullptr, n, scratch);
}
