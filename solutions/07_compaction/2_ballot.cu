// Lab 07, rung 2: two passes over the elements. One ballot of a warp counts a row of 32 and tells
// every lane how many before it are kept; flags are never stored.
//
// New: count_row, in place of one flag and one sum per element. With it a warp has several rows, a
// block has a tile of 4096 elements, and only one count per tile is stored; the second pass tests
// again which elements are kept. scan_counts is rung 1's scan_sums.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;
constexpr int per_thread = 16, per_warp = 32 * per_thread, tile = block_size * per_thread;
constexpr int scan_size = 1024; // threads of the one block that adds up the tiles' counts

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

// This lane's first element. The others are 32, 64, ... further on: a warp has per_thread rows of
// 32 neighbours, one below the other.
static __device__ int first_element()
{
    return blockIdx.x * tile + threadIdx.x / 32 * per_warp + threadIdx.x % 32;
}

// For a row: how many of its 32 elements are kept, and how many of those lie before this lane's.
struct row_counts {
    int all = 0, before = 0;
};
static __device__ row_counts count_row(bool keep)
{
    row_counts row;
    unsigned kept = __ballot_sync(0xffffffff, keep);
    row.all = __popc(kept);
    row.before = __popc(kept & ((1u << threadIdx.x % 32) - 1));
    return row;
}

// For a block: how many elements its warps keep, and how many of those lie before this warp.
struct block_counts {
    int all = 0, before = 0;
};
template <class K> static __device__ block_counts count_block(K kept, int n)
{
    __shared__ int counts[block_size / 32];
    block_counts block;
    int first = first_element(), of_this_warp = 0, warp = threadIdx.x / 32;
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
    int all = count_block(kept, n).all;
    if (threadIdx.x == 0) counts[blockIdx.x] = all;
}

// Between the passes, in one block: each count becomes the sum of those before it. *total, unless
// it is null, becomes the sum of all.
static __global__ void scan_counts(int *counts, int tiles, int *total)
{
    __shared__ int sums[scan_size];
    int t = threadIdx.x, run = (tiles + scan_size - 1) / scan_size, of_run = 0;
    int first = min(t * run, tiles), last = min(first + run, tiles);
    for (int i = first; i < last; ++i) of_run += counts[i];
    sums[t] = of_run;
    __syncthreads();
    for (int distance = 1; distance < scan_size; distance *= 2) {
        int left = t >= distance ? sums[t - distance] : 0;
        __syncthreads(); // all have read before any thread writes
        sums[t] += left;
        __syncthreads();
    }
    int before = sums[t] - of_run;
    for (int i = first; i < last; ++i) {
        int count = counts[i];
        counts[i] = before;
        before += count;
    }
    if (total && t == scan_size - 1) *total = sums[t];
}

// Second pass: every element goes to its place. Tile t begins at starts[t].
static __global__ void place_kept(const float *in, float *out, int n, const int *starts)
{
    positive kept{in};
    int first = first_element(), to = starts[blockIdx.x] + count_block(kept, n).before;
    for (int k = 0; k < per_thread; ++k) {
        int i = first + 32 * k;
        bool keep = i < n && kept(i);
        row_counts row = count_row(keep);
        if (keep) out[to + row.before] = in[i];
        to += row.all;
    }
}

static __global__ void place_back(const float *packed, const unsigned char *keep, float *out, int n,
                                  const int *starts)
{
    marked kept{keep};
    int first = first_element(), from = starts[blockIdx.x] + count_block(kept, n).before;
    for (int k = 0; k < per_thread; ++k) {
        int i = first + 32 * k;
        bool here = i < n && kept(i);
        row_counts row = count_row(here);
        if (i < n) out[i] = here ? packed[from + row.before] : 0;
        from += row.all;
    }
}

// The rest keeps its order: element i, if not kept, comes behind those of the i elements before it
// that are not kept.
static __global__ void place_both(const float *in, float *out, int n, const int *starts,
                                  const int *kept_count)
{
    positive kept{in};
    int first = first_element(), to = starts[blockIdx.x] + count_block(kept, n).before;
    for (int k = 0; k < per_thread; ++k) {
        int i = first + 32 * k;
        bool keep = i < n && kept(i);
        row_counts row = count_row(keep);
        int before = to + row.before;
        if (i < n) out[keep ? before : *kept_count + i - before] = in[i];
        to += row.all;
    }
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
