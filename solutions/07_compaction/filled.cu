// Lab 07: the stub with lines added and none changed.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#ifndef DONE
#define DONE 9 // the TODOs that are done; `check --todos` sets it
#endif

constexpr int block_size = 256;
constexpr int per_thread = 16, per_warp = 32 * per_thread, tile = block_size * per_thread;

static int tiles_for(int n) { return n / tile + (n % tile != 0); }

// Which elements are kept.
struct positive {
    const float *in;
    __device__ bool operator()(int i) const { return in[i] > 0; }
};
struct marked {
    const unsigned char *keep;
    __device__ bool operator()(int i) const { return keep[i] != 0; }
};

// This lane's first element in tile t. The others are 32, 64, ... further on: a
// warp has per_thread rows of 32 neighbours, one below the other.
static __device__ int first_element(int t)
{
    return t * tile + threadIdx.x / 32 * per_warp + threadIdx.x % 32;
}

// For a row: how many of its 32 elements are kept, and how many of those lie
// before this lane's.
struct row_counts {
    int all = 0, before = 0;
};
static __device__ row_counts count_row(bool keep)
{
    row_counts row;
    // TODO 1 (compact): Both counts are right in all 32 lanes, without any memory.
    unsigned kept = __ballot_sync(0xffffffff, keep);
    row.all = __popc(kept);
    row.before = __popc(kept & ((1u << threadIdx.x % 32) - 1));
    return row;
}

// For a block with tile t: how many elements its warps keep, and how many of
// those lie before this warp.
struct block_counts {
    int all = 0, before = 0;
};
template <class K> static __device__ block_counts count_block(K kept, int t, int n)
{
    block_counts block;
    // TODO 2 (compact): Both counts are right in all threads. Elements beyond n are
    // not kept.
    __shared__ int counts[block_size / 32];
    int first = first_element(t), of_this_warp = 0, warp = threadIdx.x / 32;
    for (int k = 0; k < per_thread; ++k) {
        int i = first + 32 * k;
        of_this_warp += count_row(i < n && kept(i)).all;
    }
    if (threadIdx.x % 32 == 0) counts[warp] = of_this_warp;
    __syncthreads();
    for (int w = 0; w < block_size / 32; ++w) {
        block.all += counts[w];
        if (w < warp) block.before += counts[w];
    }
    return block;
}

// First pass: counts[t] is how many elements of tile t are kept.
template <class K> static __global__ void count_tiles(K kept, int n, int *counts)
{
    // TODO 3 (compact): The count of this block's tile has been stored.
    int all = count_block(kept, blockIdx.x, n).all;
    if (threadIdx.x == 0) counts[blockIdx.x] = all;
}

// Between the passes, in one block: each count becomes the sum of those before it,
// as in lab 06. *total, unless it is null, becomes the sum of all.
static __global__ void scan_counts(int *counts, int tiles, int *total)
{
    __shared__ int sums[block_size];
    int t = threadIdx.x, run = (tiles + block_size - 1) / block_size, of_run = 0;
    int first = min(t * run, tiles), last = min(first + run, tiles);
    for (int i = first; i < last; ++i) of_run += counts[i];
    sums[t] = of_run;
    __syncthreads();
    for (int distance = 1; distance < block_size; distance *= 2) {
        int left = t >= distance ? sums[t - distance] : 0;
        __syncthreads();
        sums[t] += left;
        __syncthreads();
    }
    int before = sums[t] - of_run;
    for (int i = first; i < last; ++i) {
        int count = counts[i];
        counts[i] = before;
        before += count;
    }
    if (total && t == block_size - 1) *total = sums[t];
}

// Stores the elements that this warp keeps of tile t, from out[to] on.
static __device__ void store_kept(const float *in, float *out, int n, int t, int to)
{
    // TODO 3 (compact): The kept elements of all rows have been stored, in order.
    float x[per_thread]; // all are loaded before the first is stored
    for (int k = 0; k < per_thread; ++k) {
        int i = first_element(t) + 32 * k;
        x[k] = i < n ? in[i] : 0;
    }
    for (int k = 0; k < per_thread; ++k) {
        row_counts row = count_row(x[k] > 0);
        if (x[k] > 0) out[to + row.before] = x[k];
        to += row.all;
    }
}

// Second pass: tile t begins at out[starts[t]].
static __global__ void place_kept(const float *in, float *out, int n, const int *starts)
{
    // TODO 3 (compact): All kept elements of this block's tile are in place.
    int t = blockIdx.x;
    store_kept(in, out, n, t, starts[t] + count_block(positive{in}, t, n).before);
}

// Stores this warp's elements of tile t: those that are kept come from
// packed[from] on, the others are 0.
static __device__ void store_back(const float *packed, const unsigned char *keep, float *out, int n,
                                  int t, int from)
{
    // TODO 4 (unpack): All elements of all rows have been stored.
    for (int k = 0; k < per_thread; ++k) {
        int i = first_element(t) + 32 * k;
        bool here = i < n && keep[i] != 0;
        row_counts row = count_row(here);
        if (i < n) out[i] = here ? packed[from + row.before] : 0;
        from += row.all;
    }
}

static __global__ void place_back(const float *packed, const unsigned char *keep, float *out, int n,
                                  const int *starts)
{
    // TODO 4 (unpack): All elements of this block's tile are in place.
    int t = blockIdx.x;
    store_back(packed, keep, out, n, t, starts[t] + count_block(marked{keep}, t, n).before);
}

// One pass, as in lab 06: each tile publishes its count and looks back at the
// states of the tiles before it. State and count are one word: the state is in its
// upper half.
using word = unsigned long long;
enum state : unsigned { invalid, aggregate, prefix };

// Returns this block's tile.
static __device__ int next_tile(int *tiles_taken)
{
    __shared__ int t;
    if (threadIdx.x == 0) t = blockIdx.x;
    // TODO 6 (compact: blocks in any order): The blocks get the tiles in the order
    // in which they begin, so that those of all earlier tiles have begun.
    if (threadIdx.x == 0) t = atomicAdd(tiles_taken, 1);
    __syncthreads();
    return t;
}

// Returns how many elements are kept before tile t, of which `kept` are.
static __device__ int kept_before(volatile word *tiles, int t, int kept)
{
    __shared__ int before;
    // TODO 7 (compact: speed, half kept): `before` is right, and tile t has
    // published first its aggregate, and then its inclusive prefix.
    if (threadIdx.x == 0) {
        tiles[t] = word(aggregate) << 32 | unsigned(kept);
        before = 0;
        for (int i = t - 1; i >= 0; --i) {
            word w = tiles[i];
            while (w >> 32 == invalid) w = tiles[i];
            before += int(unsigned(w));
            if (w >> 32 == prefix) break;
        }
        tiles[t] = word(prefix) << 32 | unsigned(before + kept);
    }
    __syncthreads();
    return before;
}

static __global__ void compact_tiles(const float *in, float *out, int *count, int n,
                                     volatile word *tiles, int *tiles_taken)
{
    // TODO 8 (compact: speed, half kept): The tile's kept elements are in place, by
    // next_tile and kept_before. The last tile has stored the count.
    int t = next_tile(tiles_taken);
    block_counts block = count_block(positive{in}, t, n);
    int to = kept_before(tiles, t, block.all);
    store_kept(in, out, n, t, to + block.before);
    if (t == gridDim.x - 1 && threadIdx.x == 0) *count = to + block.all;
}

static __global__ void unpack_tiles(const float *packed, const unsigned char *keep, float *out,
                                    int n, volatile word *tiles, int *tiles_taken)
{
    // TODO 9 (unpack: speed): The same for unpack.
    int t = next_tile(tiles_taken);
    block_counts block = count_block(marked{keep}, t, n);
    store_back(packed, keep, out, n, t, kept_before(tiles, t, block.all) + block.before);
}

// A word per tile, for a count or a state, and how many tiles have been taken.
static size_t scratch_for(int n) { return sizeof(word) * (size_t(tiles_for(n)) + 1); }
size_t compact_scratch(int n) { return scratch_for(n); }
size_t unpack_scratch(int n) { return scratch_for(n); }
size_t partition_scratch(int n) { return scratch_for(n); }

void compact(const float *in, float *out, int *count, int n, void *scratch)
{
    int *starts = static_cast<int *>(scratch), tiles = tiles_for(n);
    // TODO 3 (compact): Three kernels have been launched, two of them with a block
    // per tile. There may be no tile at all: then *count is 0.
    //
    // TODO 8 (compact: speed, half kept): compact_tiles stands in their place. At its
    // launch no tile is taken, and every state is invalid.
    // TODO 3 (compact)
#if DONE < 8
    if (tiles > 0) count_tiles<<<tiles, block_size>>>(positive{in}, n, starts);
    check_launch("count_tiles");
    scan_counts<<<1, block_size>>>(starts, tiles, count);
    check_launch("scan_counts");
    if (tiles > 0) place_kept<<<tiles, block_size>>>(in, out, n, starts);
    check_launch("place_kept");
#else
    // TODO 8 (compact: speed, half kept)
    word *states = static_cast<word *>(scratch);
    int *taken = reinterpret_cast<int *>(states + tiles);
    if (tiles == 0) return check(cudaMemsetAsync(count, 0, sizeof(int)), "clearing the count");
    check(cudaMemsetAsync(scratch, 0, scratch_for(n)), "clearing the states");
    compact_tiles<<<tiles, block_size>>>(in, out, count, n, states, taken);
    check_launch("compact_tiles");
#endif
}

void unpack(const float *packed, const unsigned char *keep, float *out, int n, void *scratch)
{
    int *starts = static_cast<int *>(scratch), tiles = tiles_for(n);
    // TODO 4 (unpack): Three kernels have been launched. No total is asked for.
    //
    // TODO 9 (unpack: speed): unpack_tiles stands in their place.
    // TODO 4 (unpack)
    if (tiles == 0) return;
#if DONE < 9
    count_tiles<<<tiles, block_size>>>(marked{keep}, n, starts);
    check_launch("count_tiles");
    scan_counts<<<1, block_size>>>(starts, tiles, nullptr);
    check_launch("scan_counts");
    place_back<<<tiles, block_size>>>(packed, keep, out, n, starts);
    check_launch("place_back");
#else
    // TODO 9 (unpack: speed)
    word *states = static_cast<word *>(scratch);
    check(cudaMemsetAsync(scratch, 0, scratch_for(n)), "clearing the states");
    unpack_tiles<<<tiles, block_size>>>(packed, keep, out, n, states,
                                        reinterpret_cast<int *>(states + tiles));
    check_launch("unpack_tiles");
#endif
}

// TODO 5 (partition): of the i elements before element i those that are not kept are i less those
// that are.
static __global__ void place_both(const float *in, float *out, int n, const int *starts,
                                  const int *kept_count)
{
    int t = blockIdx.x, to = starts[t] + count_block(positive{in}, t, n).before;
    for (int k = 0; k < per_thread; ++k) {
        int i = first_element(t) + 32 * k;
        bool keep = i < n && in[i] > 0;
        row_counts row = count_row(keep);
        int before = to + row.before;
        if (i < n) out[keep ? before : *kept_count + i - before] = in[i];
        to += row.all;
    }
}

void partition(const float *in, float *out, int *kept_count, int n, void *scratch)
{
    // TODO 5 (partition): Your own design. Two passes are enough.
    int *starts = static_cast<int *>(scratch), tiles = tiles_for(n);
    if (tiles > 0) count_tiles<<<tiles, block_size>>>(positive{in}, n, starts);
    check_launch("count_tiles");
    scan_counts<<<1, block_size>>>(starts, tiles, kept_count);
    check_launch("scan_counts");
    if (tiles > 0) place_both<<<tiles, block_size>>>(in, out, n, starts, kept_count);
    check_launch("place_both");
}
