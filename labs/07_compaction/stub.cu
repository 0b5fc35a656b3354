// Lab 07, compaction: the file to edit. What each function must do: lab.hpp.
// The lesson: handouts/07_compaction.md. Stuck at a TODO: ./workbook hint 07.
//
// TODOs 1 to 4 go over the elements twice: each block counts the kept elements of
// its tile; one block scans the counts; then every block knows where its elements
// go. TODO 5 is a design of your own. With TODOs 6 to 9 one pass will do.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

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
    // TODO 1 (compact): Both counts must be right in all 32 lanes, without any memory.
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
    // TODO 2 (compact): Both counts must be right in all threads. Elements beyond n
    // are not kept.
    return block;
}

// First pass: counts[t] is how many elements of tile t are kept.
template <class K> static __global__ void count_tiles(K kept, int n, int *counts)
{
    // TODO 3 (compact): counts must hold the count of this block's tile.
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
    // TODO 3 (compact): The kept elements of all rows must be in `out`, in order.
}

// Second pass: tile t begins at out[starts[t]].
static __global__ void place_kept(const float *in, float *out, int n, const int *starts)
{
    // TODO 3 (compact): All kept elements of this block's tile must be in place.
}

// Stores this warp's elements of tile t: those that are kept come from
// packed[from] on, the others are 0.
static __device__ void store_back(const float *packed, const unsigned char *keep, float *out, int n,
                                  int t, int from)
{
    // TODO 4 (unpack): `out` must hold all elements of all rows.
}

static __global__ void place_back(const float *packed, const unsigned char *keep, float *out, int n,
                                  const int *starts)
{
    // TODO 4 (unpack): All elements of this block's tile must be in place.
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
    // TODO 6 (compact: blocks in any order): The blocks must get the tiles in the
    // order in which they begin, so that those of all earlier tiles have begun.
    __syncthreads();
    return t;
}

// Returns how many elements are kept before tile t, of which `kept` are.
static __device__ int kept_before(volatile word *tiles, int t, int kept)
{
    __shared__ int before;
    // TODO 7 (compact: speed, half kept): `before` must be right, and tile t must
    // publish first its aggregate, and then its inclusive prefix.
    __syncthreads();
    return before;
}

static __global__ void compact_tiles(const float *in, float *out, int *count, int n,
                                     volatile word *tiles, int *tiles_taken)
{
    // TODO 8 (compact: speed, half kept): The tile's kept elements must be in place,
    // by next_tile and kept_before. The last tile must store the count.
}

static __global__ void unpack_tiles(const float *packed, const unsigned char *keep, float *out,
                                    int n, volatile word *tiles, int *tiles_taken)
{
    // TODO 9 (unpack: speed): The tile's elements must be in place, as in TODO 8.
}

// A word per tile, for a count or a state, and how many tiles have been taken.
static size_t scratch_for(int n) { return sizeof(word) * (size_t(tiles_for(n)) + 1); }
size_t compact_scratch(int n) { return scratch_for(n); }
size_t unpack_scratch(int n) { return scratch_for(n); }
size_t partition_scratch(int n) { return scratch_for(n); }

void compact(const float *in, float *out, int *count, int n, void *scratch)
{
    int *starts = static_cast<int *>(scratch), tiles = tiles_for(n);
    // TODO 3 (compact): The three kernels must run, two of them with a block per
    // tile. There may be no tile at all: then *count is 0.
    //
    // TODO 8 (compact: speed, half kept): compact_tiles must take their place. At its
    // launch no tile is taken, and every state is invalid.
}

void unpack(const float *packed, const unsigned char *keep, float *out, int n, void *scratch)
{
    int *starts = static_cast<int *>(scratch), tiles = tiles_for(n);
    // TODO 4 (unpack): The three kernels must run. No total is asked for.
    //
    // TODO 9 (unpack: speed): unpack_tiles must take their place.
}

void partition(const float *in, float *out, int *kept_count, int n, void *scratch)
{
    // TODO 5 (partition): Your own design. Two passes are enough.
}
