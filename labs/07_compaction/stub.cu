// Lab 07, compaction: the file to edit. What each function must do: lab.hpp.
// The lesson: handouts/07_compaction.md. Stuck at a TODO: ./workbook hint 07.
//
// The launches below are in place, for two passes over the elements: each block
// counts the kept elements of its tile; one block scans the counts; then every
// block knows where its elements go. Change kernels, launches and scratch where
// your idea needs it.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;
constexpr int per_thread = 16, per_warp = 32 * per_thread, tile = block_size * per_thread;
constexpr int scan_size = 256; // threads of the block that adds up the counts

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

// This lane's first element. The others are 32, 64, ... further on: a warp has
// per_thread rows of 32 neighbours, one below the other.
static __device__ int first_element()
{
    return blockIdx.x * tile + threadIdx.x / 32 * per_warp + threadIdx.x % 32;
}

// For a row: how many of its 32 elements are kept, and how many of those lie
// before this lane's.
struct row_counts {
    int all = 0, before = 0;
};
static __device__ row_counts count_row(bool keep)
{
    row_counts row;
    // TODO 1 (compact): Fill in both. __ballot_sync gives every lane a word in
    // which bit l is set if lane l votes yes; __popc counts the bits of a word.
    return row;
}

// For a block: how many elements its warps keep, and how many of those lie
// before this warp.
struct block_counts {
    int all = 0, before = 0;
};
template <class K> static __device__ block_counts count_block(K kept, int n)
{
    block_counts block;
    // TODO 2 (compact): Fill in both. Count the warp's rows with count_row,
    // where elements beyond n are not kept; then let the warps exchange their
    // counts through shared memory.
    return block;
}

// First pass: counts[t] is how many elements of tile t are kept.
template <class K> static __global__ void count_tiles(K kept, int n, int *counts)
{
    // TODO 3 (compact): One thread of the block must write the count that
    // count_block returns.
}

// Between the passes, in one block: each count becomes the sum of those before
// it. *total, unless it is null, becomes the sum of all.
static __global__ void scan_counts(int *counts, int tiles, int *total)
{
    // TODO 4 (compact): Let each thread add up a run of the counts; turn the
    // threads' sums into an exclusive scan, in shared memory; then go over the
    // run once more and write.
    // There may be no tiles at all: *total is then 0.
}

// Second pass: every element goes to its place. Tile t begins at starts[t].
static __global__ void place_kept(const float *in, float *out, int n, const int *starts)
{
    // TODO 5 (compact): Compute where this warp's kept elements begin in `out`,
    // then go over its rows: every lane whose element is kept stores it at its
    // place.
    //
    // TODO 8 (compact: speed, half kept): When everything passes, in unpack and
    // partition too: one pass. Let each tile publish its count, look back at
    // the states that the tiles before it have published, and go on as soon as
    // it knows where it begins.
    // TODO 8 (compact: blocks in any order): No block may wait there for one
    // that has not begun.
}

static __global__ void place_back(const float *packed, const unsigned char *keep, float *out, int n,
                                  const int *starts)
{
    // TODO 6 (unpack): The reverse: compute where this warp's elements begin in
    // `packed`, then go over its rows: every lane stores its element in `out`,
    // or 0.
}

// The rest keeps its order: element i, if not kept, comes behind those of the i
// elements before it that are not kept.
static __global__ void place_both(const float *in, float *out, int n, const int *starts,
                                  const int *kept_count)
{
    // TODO 7 (partition): Place the kept elements as in place_kept, and the
    // others behind all of them. If k elements are kept before element i, how
    // many are not?
}

// One int per tile.
size_t compact_scratch(int n) { return sizeof(int) * tiles_for(n); }
size_t unpack_scratch(int n) { return sizeof(int) * tiles_for(n); }
size_t partition_scratch(int n) { return sizeof(int) * tiles_for(n); }

void compact(const float *in, float *out, int *count, int n, void *scratch)
{
    int *starts = static_cast<int *>(scratch), tiles = tiles_for(n);
    if (tiles > 0) count_tiles<<<tiles, block_size>>>(positive{in}, n, starts);
    check_launch("count_tiles");
    scan_counts<<<1, scan_size>>>(starts, tiles, count);
    check_launch("scan_counts");
    if (tiles > 0) place_kept<<<tiles, block_size>>>(in, out, n, starts);
    check_launch("place_kept");
}

void unpack(const float *packed, const unsigned char *keep, float *out, int n, void *scratch)
{
    int *starts = static_cast<int *>(scratch), tiles = tiles_for(n);
    if (tiles == 0) return;
    count_tiles<<<tiles, block_size>>>(marked{keep}, n, starts);
    check_launch("count_tiles");
    scan_counts<<<1, scan_size>>>(starts, tiles, nullptr);
    check_launch("scan_counts");
    place_back<<<tiles, block_size>>>(packed, keep, out, n, starts);
    check_launch("place_back");
}

void partition(const float *in, float *out, int *kept_count, int n, void *scratch)
{
    int *starts = static_cast<int *>(scratch), tiles = tiles_for(n);
    if (tiles > 0) count_tiles<<<tiles, block_size>>>(positive{in}, n, starts);
    check_launch("count_tiles");
    scan_counts<<<1, scan_size>>>(starts, tiles, kept_count);
    check_launch("scan_counts");
    if (tiles > 0) place_both<<<tiles, block_size>>>(in, out, n, starts, kept_count);
    check_launch("place_both");
}
