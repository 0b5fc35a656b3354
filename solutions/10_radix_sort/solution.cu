// Lab 10, worked: one sweep a digit, and a tile's keys are brought into order in shared memory
// first, so that they leave side by side.
//
// From rung 4: the counts of all digits up front, the board and the look-back. New: `staged`; a
// tile tells its counts before it ranks its keys, so that nobody waits for that; several tiles are
// looked at at a time; and as many keys a thread as its registers hold. Moving the keys is the
// smaller part of the time, so what ranking a row of 32 costs is counted in instructions.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, warps = block_size / 32;
constexpr int blocks_at_once = 3; // on a multiprocessor: 80 registers a thread
constexpr int digit_bits = 8, digits = 1 << digit_bits, passes = 32 / digit_bits;
constexpr unsigned all_lanes = 0xffffffff;
static_assert(block_size == digits, "a thread of each block looks after one digit");

static int tiles_for(int n, int tile) { return n / tile + (n % tile != 0); }

static __device__ int lane() { return threadIdx.x % 32; }
static __device__ unsigned lanes_below() { return (1u << lane()) - 1; }

// Just x. The compiler cannot see through it, and so finds out once, for the vote and for what
// follows from it, whether a bit is set: 3 instructions a vote and not 7.
static __device__ unsigned just(unsigned x)
{
    asm("" : "+r"(x));
    return x;
}

// A warp a run. Bit by bit from the lowest, `before` is the lanes whose keys go before this lane's.
static __global__ void sort_runs(unsigned *keys, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    unsigned key = i < n ? keys[i] : 0xffffffff, before = lanes_below();
#pragma unroll
    for (int bit = 0; bit < 32; ++bit) {
        unsigned one = just(key & 1u << bit);
        unsigned zeros = ~__ballot_sync(all_lanes, one);
        before = one ? before | zeros : before & zeros;
    }
    __syncwarp(); // all have read before anyone writes
    if (i < n) keys[i - lane() + __popc(before)] = key;
}

void sort_warps(unsigned *keys, int n)
{
    if (n == 0) return;
    sort_runs<<<tiles_for(n, block_size), block_size>>>(keys, n);
    check_launch("sort_runs");
}

// The digit a pass sorts by. The bits of floats are turned so that unsigned numbers have their
// order: negative ones before the others, and the other way round.
template <bool floats> static __device__ int digit_of(unsigned key, int shift)
{
    if (floats) key ^= unsigned(int(key) >> 31) | 0x80000000;
    return key >> shift & (digits - 1);
}

// The lanes of the warp whose digit is this lane's.
static __device__ unsigned peers_of(int digit)
{
    unsigned peers = all_lanes;
#pragma unroll
    for (int bit = 0; bit < digit_bits; ++bit) {
        unsigned one = just(digit & 1 << bit);
        unsigned ones = __ballot_sync(all_lanes, one);
        peers &= one ? ones : ~ones;
    }
    return peers;
}

// The sum of x over the threads before this one.
static __device__ int sum_before(int x)
{
    __shared__ int of_warps[warps];
    int up_to = x;
    for (int distance = 1; distance < 32; distance *= 2) {
        int left = __shfl_up_sync(all_lanes, up_to, distance);
        if (lane() >= distance) up_to += left;
    }
    if (lane() == 31) of_warps[threadIdx.x / 32] = up_to;
    __syncthreads();
    int before = up_to - x;
    for (int w = 0; w < int(threadIdx.x / 32); ++w) before += of_warps[w];
    return before;
}

// How often each digit of each pass occurs: the same whatever the order of the keys is.
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

// A block a pass: where in the sorted array each digit begins.
static __global__ void scan_digits(int *counts)
{
    int *mine = counts + blockIdx.x * digits + threadIdx.x;
    *mine = sum_before(*mine);
}

// What a tile has told of one of its digits so far: nothing; how many keys it has; how many it and
// all before it have. State and count are one word, so that no fence is needed. Only the last tile
// can count 2^30, which is no count any more; but nobody asks it.
using word = unsigned;
constexpr word nothing = 0, own = 1u << 30, sum = 2u << 30, count_of = own - 1;

// Of one pass: what the tiles have told, a row of words each; where digits begin; tiles taken.
struct board {
    volatile word *told;
    const int *starts;
    int *taken;
};

// A block takes its tile when it runs, so that every tile it may wait for is at work already,
// whatever the order in which blocks are started.
static __device__ int next_tile(int *taken)
{
    __shared__ int t;
    if (threadIdx.x == 0) t = atomicAdd(taken, 1);
    __syncthreads();
    return t;
}

// How many keys of this thread's digit are in the tiles before t. Several loads are under way at a
// time: mostly there are more tiles to look at than one.
static __device__ int look_back(const volatile word *told, int t)
{
    constexpr int at_once = 4;
    int before = 0;
    for (int nearest = t - 1; nearest >= 0;) {
        word w[at_once];
        for (int k = 0; k < at_once; ++k)
            w[k] = k <= nearest ? told[(nearest - k) * digits + threadIdx.x] : sum;
#pragma unroll
        for (int k = 0; k < at_once; ++k) {
            if (w[k] == nothing) break; // look again, from here on
            before += w[k] & count_of;
            if (w[k] & sum) return before;
            --nearest;
        }
    }
    return before;
}

// The larger a tile, the fewer there are to look back at. A pair needs a few registers more.
template <bool pairs> constexpr int per_thread = pairs ? 23 : 27;
template <bool pairs> constexpr int tile = block_size *per_thread<pairs>;

// Where keys and, in pairs, values come from and go to.
struct arrays {
    const unsigned *keys, *values;
    unsigned *keys_to, *values_to;
};

// `same_shift` equals `shift`, which the compiler does not know: else it would keep all digits from
// where they are counted to where they are ranked, in a register each.
template <bool floats, bool pairs>
static __global__ void __launch_bounds__(block_size, blocks_at_once)
    sort_tiles(arrays a, int n, int shift, int same_shift, board b)
{
    __shared__ int next[warps][digits];      // where in the tile a warp's next key of a digit goes
    __shared__ unsigned staged[tile<pairs>]; // the keys, and when they have left, the values
    __shared__ int offsets[digits];          // from there to the place in the array

    constexpr int rows = per_thread<pairs>;
    int t = next_tile(b.taken), digit = threadIdx.x, *mine = next[threadIdx.x / 32];
    int first = t * tile<pairs> + threadIdx.x / 32 * 32 * rows + lane();

    // A warp has rows of 32 neighbours, one below the other. Beyond n: what goes to the tile's end.
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
    b.told[t * digits + digit] = (t == 0 ? sum : own) | of_tile;
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

    int before = look_back(b.told, t);
    if (t > 0) b.told[t * digits + digit] = sum | word(before + of_tile);
    offsets[digit] = offset + before;
    __syncthreads();

    // All loads first, so that they are under way together.
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
        __syncthreads(); // the last key has left
        for (int k = 0; k < rows; ++k) staged[places[k]] = values[k];
        __syncthreads();
        for (int k = 0; k < rows; ++k) {
            int from = threadIdx.x + k * block_size;
            if (from < count) a.values_to[to[k]] = staged[from];
        }
    }
}

// Scratch. First what is cleared, in rows of as many ints as digits, so that all begin at a
// multiple of 256 bytes: a row for each tile and pass, the counts of each pass, and the tiles
// taken. Then the other place of the keys, and that of the values.
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
    word *told = static_cast<word *>(scratch);
    int *counts = reinterpret_cast<int *>(told + size_t(passes) * tiles * digits);
    int *taken = counts + passes * digits;
    unsigned *other = told + cleared_for<pairs>(n), *other_values = pairs ? other + n : nullptr;

    check(cudaMemsetAsync(scratch, 0, sizeof(int) * cleared_for<pairs>(n)), "clearing the board");
    count_digits<floats><<<tiles_for(n, counted_by_block), block_size>>>(keys, n, counts);
    scan_digits<<<passes, digits>>>(counts);
    arrays there{keys, values, other, other_values}, back{other, other_values, keys, values};
    for (int pass = 0; pass < passes; ++pass) {
        board b{told + size_t(pass) * tiles * digits, counts + pass * digits, taken + pass};
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
