// Lab 10, radix sort: the file to edit. What each function must do: lab.hpp.
// The lesson: handouts/10_radix_sort.md. Stuck at a TODO: ./workbook hint 10.
//
// One pass per digit, first with three kernels per pass: each block counts the
// digits of its tile; the counts of all tiles are scanned; then every block
// knows where its keys go. TODOs 9 to 11 leave fewer passes and fewer kernels.
//
// This is the stub with lines added and none changed.
#ifndef DONE
#define DONE 12 // the TODOs that are done; `check --todos` sets it
#endif
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, warps = block_size / 32;
constexpr int per_thread = 16, per_warp = 32 * per_thread, tile = block_size * per_thread;
constexpr unsigned all_lanes = 0xffffffff;

// TODO 9 (radix_sort: speed): There must be half as many passes; only the width
// of a digit changes. Predict the bytes per key before you grade.
// TODO 9 (radix_sort_pairs: speed): The passes are the same.
// TODO 9 (radix_sort_floats: speed): The passes are the same.
#if DONE < 9
constexpr int digit_bits = 4;
#else
constexpr int digit_bits = 8;
#endif
constexpr int digits = 1 << digit_bits, passes = 32 / digit_bits;

static int blocks_for(int n, int each) { return n / each + (n % each != 0); }

// Threads of a block that scans the counts of so many tiles, in rounds of as many.
// Few are slower, but tell soon whether a second round is right.
static int scan_threads(int tiles) { return tiles > block_size ? block_size : 32; }

static __device__ int lane() { return threadIdx.x % 32; }

// One bit for each lane before this one.
static __device__ unsigned lanes_below() { return (1u << lane()) - 1; }

// One warp per run.
static __global__ void sort_runs(unsigned *keys, int n)
{
    // TODO 1 (sort_warps): Each run must be sorted: a lane learns by votes,
    // __ballot_sync, which lanes' keys go before its own. Lanes without a key
    // must vote, too, and all lanes must have loaded before one stores.
    int i = blockIdx.x * block_size + threadIdx.x;
    unsigned key = i < n ? keys[i] : 0xffffffff, before = lanes_below();
    for (int bit = 0; bit < 32; ++bit) {
        bool one = key >> bit & 1;
        unsigned zeros = ~__ballot_sync(all_lanes, one);
        before = one ? before | zeros : before & zeros;
    }
    __syncwarp();
    if (i < n) keys[i - lane() + __popc(before)] = key;
}

void sort_warps(unsigned *keys, int n)
{
    // TODO 1 (sort_warps): sort_runs must run, unless there are no keys.
    if (n > 0) sort_runs<<<blocks_for(n, block_size), block_size>>>(keys, n);
    check_launch("sort_runs");
}

// Returns the exclusive prefix sum of x in the block, and the sum over all
// threads. All threads of the block must call it: whole warps, and at most
// block_size threads.
struct block_prefix {
    int exclusive, aggregate;
};
static __device__ block_prefix scan_block(int x)
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
    block_prefix sums{inclusive - x, 0};
    for (int w = 0; w < int(blockDim.x / 32); ++w) {
        if (w < int(threadIdx.x / 32)) sums.exclusive += of_warps[w];
        sums.aggregate += of_warps[w];
    }
    return sums;
}

// The digit that a pass sorts by, and the pass's numbers in scratch. `counts`
// is a matrix: one row per digit, one column per tile.
struct pass {
    int shift;   // of the digit's lowest bit
    bool floats; // keys are the bits of floats
    int *counts; // first a tile's keys of each digit, then those in earlier tiles
    int *totals; // all tiles' keys of each digit
    int *taken;  // for TODO 10: tiles that blocks have taken
};

static __device__ int digit_of(unsigned key, pass p)
{
    // TODO 8 (radix_sort_floats): If keys are floats, bits of `key` must be
    // flipped so that its order as an unsigned number is that of the floats.
    if (p.floats) key ^= key >> 31 ? 0xffffffff : 0x80000000;
    return key >> p.shift & (digits - 1);
}

// Returns this lane's first element of tile t. The others are 32, 64, ...
// further on: a warp has per_thread rows of 32 neighbours, one below the other.
static __device__ int first_element(int t)
{
    return t * tile + threadIdx.x / 32 * per_warp + lane();
}

// One block per tile.
static __global__ void count_tiles(const unsigned *keys, int n, pass p)
{
    // TODO 2 (radix_sort): Column blockIdx.x of p.counts, which has gridDim.x
    // columns, must hold how many keys of the tile have each digit.
    __shared__ int here[digits];
    if (threadIdx.x < digits) here[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < per_thread; ++k) {
        int i = first_element(blockIdx.x) + 32 * k;
        if (i < n) atomicAdd(&here[digit_of(keys[i], p)], 1);
    }
    __syncthreads();
#if DONE < 10
    if (threadIdx.x < digits) p.counts[threadIdx.x * gridDim.x + blockIdx.x] = here[threadIdx.x];
#else
    if (threadIdx.x < digits) atomicAdd(&p.totals[threadIdx.x], here[threadIdx.x]);
#endif
}

// Returns the lanes of the warp with the same digit as this lane.
static __device__ unsigned peers_of(int digit)
{
    unsigned peers = all_lanes;
    // TODO 3 (radix_sort): Only the lanes whose digits agree with this lane's
    // in every bit may be left. Votes find them.
    for (int bit = 0; bit < digit_bits; ++bit) {
        bool one = digit >> bit & 1;
        unsigned ones = __ballot_sync(all_lanes, one);
        peers &= one ? ones : ~ones;
    }
    return peers;
}

// Where keys and values come from and go to; values may be null.
struct arrays {
    const unsigned *keys, *values;
    unsigned *keys_to, *values_to;
};

// The lanes of a warp have 32 neighbouring keys; this one's is key i. next[d]:
// where the warp's next key of digit d goes.
static __device__ void place_key(arrays a, int i, int n, pass p, int *next)
{
    // TODO 4 (radix_sort): Key i, if there is one, must go to its place in a.keys_to:
    // `next` of its digit plus its peers in lower lanes. When all lanes have read
    // `next`, it must grow by the number of peers.
    unsigned key = i < n ? a.keys[i] : 0xffffffff;
    int digit = digit_of(key, p);
    unsigned peers = peers_of(digit), below = peers & lanes_below();
    int to = next[digit] + __popc(below);
    __syncwarp();
    if (below == 0) next[digit] += __popc(peers);
    __syncwarp();
    if (i < n) a.keys_to[to] = key;
    if (i < n && a.values) a.values_to[to] = a.values[i]; // TODO 7
}

// TODO 10 (radix_sort: launches)
// Publishes tile t's count of this thread's digit, and returns the exclusive prefix, which it finds
// by looking back. A state is 0 (invalid), an aggregate or an inclusive prefix; it is in one word
// with its count, so no fence is needed. The prefix of 2^30 that the last tile may have is not
// read.
static __device__ int look_back(pass p, int t, int of_tile)
{
    constexpr unsigned aggregate = 1u << 30, prefix = 2u << 30;
    volatile unsigned *states = reinterpret_cast<unsigned *>(p.counts) + threadIdx.x;
    states[t * digits] = (t == 0 ? prefix : aggregate) | of_tile;
    int before = 0;
    for (int other = t - 1; other >= 0;) {
        unsigned state = states[other * digits];
        if (state == 0) continue; // look again
        before += state & (aggregate - 1);
        if (state & prefix) break;
        --other;
    }
    if (t > 0) states[t * digits] = prefix | (before + of_tile);
    return before;
}

// One block per tile.
static __global__ void place_tiles(arrays a, int n, pass p)
{
    // For each warp and digit, where its next key goes.
    __shared__ int next[warps][digits];
    int t = blockIdx.x, warp = threadIdx.x / 32;
    int d = threadIdx.x; // the digit that this thread looks after
#if DONE >= 10
    __shared__ int taken;
    if (threadIdx.x == 0) taken = atomicAdd(p.taken, 1);
    __syncthreads();
    t = taken;
#endif
    for (int w = 0; w < warps && d < digits; ++w) next[w][d] = 0;
    __syncthreads();
    // TODO 5 (radix_sort): next[w][d] must be how many keys of digit d the
    // tile's warps before w have. So far this is right for the first warp.
    for (int k = 0; k < per_thread; ++k) {
        int i = first_element(t) + 32 * k;
        if (i < n) atomicAdd(&next[warp][digit_of(a.keys[i], p)], 1);
    }
    __syncthreads();
    int of_tile = 0;
    for (int w = 0; w < warps && d < digits; ++w) {
        int count = next[w][d];
        next[w][d] = of_tile;
        of_tile += count;
    }

    // The first of them goes behind all keys with a smaller digit, and behind
    // those of its digit in earlier tiles.
    int start = scan_block(d < digits ? p.totals[d] : 0).exclusive;
#if DONE < 10
    if (d < digits) start += p.counts[d * gridDim.x + t];
#else
    if (d < digits) start += look_back(p, t, of_tile);
#endif
#if DONE >= 12
    // TODO 12 (radix_sort: speed, timed): `next` are places in the tile, which is sorted here.
    __shared__ unsigned sorted[tile], sorted_values[tile];
    __shared__ int beyond[digits]; // a key's place in the array less that in the tile
    int in_tile = scan_block(d < digits ? of_tile : 0).exclusive;
    if (d < digits) beyond[d] = start - in_tile;
    start = in_tile;
    arrays here{a.keys, a.values, sorted, sorted_values};
#endif
    for (int w = 0; w < warps && d < digits; ++w) next[w][d] += start;
    __syncthreads();
#if DONE < 12
    for (int k = 0; k < per_thread; ++k) place_key(a, first_element(t) + 32 * k, n, p, next[warp]);
#else
    for (int k = 0; k < per_thread; ++k)
        place_key(here, first_element(t) + 32 * k, n, p, next[warp]);
    __syncthreads();
    for (int j = threadIdx.x; j < min(tile, n - t * tile); j += block_size) {
        int to = beyond[digit_of(sorted[j], p)] + j;
        a.keys_to[to] = sorted[j];
        if (a.values) a.values_to[to] = sorted_values[j];
    }
#endif
}

// One block per digit scans its row.
static __global__ void scan_counts(int tiles, pass p)
{
    int *row = p.counts + blockIdx.x * tiles;
    // TODO 6 (radix_sort): Each count must become the sum of those before it in the
    // row, and the digit's total the sum of the whole row, however many tiles there
    // are. So far this is right for a single tile.
#if DONE < 6
    if (threadIdx.x == 0) p.totals[blockIdx.x] = row[0], row[0] = 0;
#else
    int before = 0;
    for (int first = 0; first < tiles; first += blockDim.x) {
        int t = first + threadIdx.x;
        block_prefix sums = scan_block(t < tiles ? row[t] : 0);
        if (t < tiles) row[t] = before + sums.exclusive;
        before += sums.aggregate;
    } // the next round
    if (threadIdx.x == 0) p.totals[blockIdx.x] = before;
#endif
}

// TODO 10 (radix_sort: launches): A pass must have at most two launches.
// place_tiles finds by looking back at the states of earlier tiles (lab 06) how
// many keys of each digit they have; the other kernel counts the totals alone.
//
// TODO 11 (radix_sort: speed): A pass must have one launch. The totals do not
// depend on the order of the keys: those of all passes must be there before the
// first.
// TODO 11 (radix_sort_pairs: speed): The passes are the same.
// TODO 11 (radix_sort_floats: speed): The passes are the same.
static __global__ void count_digits(const unsigned *keys, int n, bool floats, int *totals)
{
    __shared__ int here[passes][digits];
    for (int i = threadIdx.x; i < passes * digits; i += block_size) here[0][i] = 0;
    __syncthreads();
    for (int k = 0; k < per_thread; ++k) {
        int i = first_element(blockIdx.x) + 32 * k;
        if (i >= n) break;
        unsigned key = keys[i]; // loaded once for all passes
        for (int q = 0; q < passes; ++q)
            atomicAdd(&here[q][digit_of(key, {q * digit_bits, floats})], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < passes * digits; i += block_size)
        atomicAdd(&totals[i], here[0][i]);
}

// TODO 12 (radix_sort: speed, timed): Neighbouring lanes must store to
// neighbouring places: the block sorts its tile in shared memory first.
// TODO 12 (radix_sort_pairs: speed, timed): It is the same kernel.
// TODO 12 (radix_sort_floats: speed, timed): It is the same kernel.

// In ints: the totals of all passes, the tiles taken by each, and one matrix of
// counts, which all passes use. A small digit has more passes than values.
constexpr int taken_size = digits > passes ? digits : passes;
static size_t counts_for(int n)
{
    return size_t(digits) * (passes + blocks_for(n, tile)) + taken_size;
}

// Sorts there and back: an even number of passes leaves the result in keys.
static void sort(unsigned *keys, unsigned *values, int n, void *scratch, bool floats)
{
    int tiles = blocks_for(n, tile);
    int *totals = static_cast<int *>(scratch), *taken = totals + passes * digits;
    int *counts = taken + taken_size;
    unsigned *other = reinterpret_cast<unsigned *>(totals + counts_for(n));
    unsigned *other_values = values ? other + n : nullptr;
    arrays there{keys, values, other, other_values}, back{other, other_values, keys, values};
    // TODO 2 (radix_sort)
    if (n == 0) return;
#if DONE >= 10
    check(cudaMemsetAsync(totals, 0, sizeof(int) * (counts - totals)), "totals and taken");
#endif
#if DONE >= 11
    count_digits<<<tiles, block_size>>>(keys, n, floats, totals);
    check_launch("count_digits");
#endif
    for (int k = 0; k < passes; ++k) {
        arrays a = k % 2 == 0 ? there : back;
        pass p{k * digit_bits, floats, counts, totals + k * digits, taken + k};
        // TODO 2 (radix_sort): count_tiles must run, unless there are no keys.
#if DONE < 11
        count_tiles<<<tiles, block_size>>>(a.keys, n, p);
        check_launch("count_tiles");
#endif

        // TODO 4 (radix_sort): scan_counts and place_tiles must run after it.
#if DONE < 10
        scan_counts<<<digits, scan_threads(tiles)>>>(tiles, p);
        check_launch("scan_counts");
#else
        check(cudaMemsetAsync(counts, 0, sizeof(int) * digits * tiles), "states");
#endif
        place_tiles<<<tiles, block_size>>>(a, n, p);
        check_launch("place_tiles");
    }
}

static size_t keys_and_counts(int n) { return sizeof(unsigned) * n + sizeof(int) * counts_for(n); }

size_t radix_sort_scratch(int n) { return keys_and_counts(n); }
void radix_sort(unsigned *keys, int n, void *scratch) { sort(keys, nullptr, n, scratch, false); }

size_t radix_sort_pairs_scratch(int n) { return keys_and_counts(n) + sizeof(unsigned) * n; }
void radix_sort_pairs(unsigned *keys, unsigned *values, int n, void *scratch)
{
    // TODO 7 (radix_sort_pairs): Your own design. When keys are sorted right,
    // little remains to be done.
    sort(keys, values, n, scratch, false);
}

size_t radix_sort_floats_scratch(int n) { return keys_and_counts(n); }
void radix_sort_floats(float *keys, int n, void *scratch)
{
    sort(reinterpret_cast<unsigned *>(keys), nullptr, n, scratch, true);
}
