// Lab 07, worked: one pass for compact and unpack, two for partition; a warp collects its kept
// elements in shared memory and stores 32 at a time. Look-back: Merrill and Garland (2016).
//
// From rung 3: everything that computes places. New: `staged`, through which compact and partition
// store. To hide the latency of look-back: 18 elements per thread instead of 16, unpack's loads
// before its first store, and partition's second pass from the last tile to the first.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, warps = block_size / 32;
constexpr int per_thread = 18, per_warp = 32 * per_thread, tile = block_size * per_thread;
constexpr unsigned all_lanes = 0xffffffff;

// The state of a tile: invalid, its aggregate, or its inclusive prefix. State and count are one
// word, so that no thread can see only one of them and no fence is needed.
using word = unsigned long long;
enum state : unsigned { invalid, aggregate, prefix };

static __device__ word packed_state(state s, int count) { return word(s) << 32 | unsigned(count); }
static __device__ state state_of(word w) { return state(w >> 32); }
static __device__ int count_of(word w) { return int(unsigned(w)); }

// Scratch: one word per tile, and how many tiles have been taken.
struct tile_states {
    volatile word *tiles;
    int *taken;
};

static int tiles_for(int n) { return n / tile + (n % tile != 0); }
static size_t states_bytes(int n) { return sizeof(word) * tiles_for(n) + sizeof(int); }

static tile_states cleared_states(int n, void *scratch)
{
    check(cudaMemsetAsync(scratch, 0, states_bytes(n)), "clearing the tile states");
    word *tiles = static_cast<word *>(scratch);
    return {tiles, reinterpret_cast<int *>(tiles + tiles_for(n))};
}

// A block takes its tile when it starts, so that the blocks of all earlier tiles are already
// running, in whatever order blocks start.
static __device__ int next_tile(const tile_states &b)
{
    __shared__ int t;
    if (threadIdx.x == 0) t = atomicAdd(b.taken, 1);
    __syncthreads();
    return t;
}

// This lane's first element in tile t; the others are 32, 64, ... further on, so that a warp has
// rows of 32 neighbours, one below the other.
static __device__ int first_of(int t)
{
    return t * tile + int(threadIdx.x / 32) * per_warp + int(threadIdx.x % 32);
}

static __device__ unsigned lanes_below() { return (1u << threadIdx.x % 32) - 1; }

// How many elements are kept in the warps of this block before this one, and in all of them.
struct block_counts {
    int before = 0, all = 0;
};

static __device__ block_counts add_up(int of_this_warp)
{
    __shared__ int counts[warps];
    if (threadIdx.x % 32 == 0) counts[threadIdx.x / 32] = of_this_warp;
    __syncthreads();
    block_counts sums;
    for (int w = 0; w < warps; ++w) {
        if (w < int(threadIdx.x / 32)) sums.before += counts[w];
        sums.all += counts[w];
    }
    return sums;
}

// Returns how many elements are kept before tile t. One warp looks at 32 tiles at a time.
static __device__ int look_back(const tile_states &b, int t)
{
    int lane = threadIdx.x % 32, before = 0;
    unsigned prefixes = 0;
    for (int nearest = t - 1; nearest >= 0 && prefixes == 0; nearest -= 32) {
        unsigned needed;
        word w;
        do {
            w = lane <= nearest ? b.tiles[nearest - lane] : packed_state(prefix, 0);
            prefixes = __ballot_sync(all_lanes, state_of(w) == prefix);
            // The lanes up to the first with a prefix; all lanes if there is none.
            needed = prefixes ^ (prefixes - 1);
        } while (__ballot_sync(all_lanes, state_of(w) == invalid) & needed);
        int count = needed >> lane & 1 ? count_of(w) : 0;
        for (int d = 16; d > 0; d /= 2) count += __shfl_xor_sync(all_lanes, count, d);
        before += count;
    }
    return before;
}

// Returns how many elements are kept before this warp's; the warp keeps `of_this_warp`.
static __device__ int kept_before(const tile_states &b, int t, int of_this_warp)
{
    __shared__ int before;
    block_counts sums = add_up(of_this_warp);
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0) b.tiles[t] = packed_state(aggregate, sums.all);
        int before_tile = look_back(b, t);
        if (threadIdx.x == 0) {
            b.tiles[t] = packed_state(prefix, before_tile + sums.all);
            before = before_tile;
        }
    }
    __syncthreads();
    return before + sums.before;
}

// Loads this lane's elements, all of them before the first is looked at; beyond n: 0, not kept.
static __device__ void load(const float *in, int n, int first, float (&x)[per_thread])
{
    for (int k = 0; k < per_thread; ++k) x[k] = first + 32 * k < n ? in[first + 32 * k] : 0;
}

static __global__ void __launch_bounds__(block_size)
    compact_tiles(const float *in, float *out, int *count, int n, tile_states b)
{
    // Kept elements are collected side by side, so that a store of the warp has 32 of them, not the
    // few of one row.
    __shared__ float staged[warps][per_warp];
    float *mine = staged[threadIdx.x / 32], x[per_thread];
    int t = next_tile(b), kept = 0;
    load(in, n, first_of(t), x);
    for (float v : x) {
        unsigned row = __ballot_sync(all_lanes, v > 0);
        if (v > 0) mine[kept + __popc(row & lanes_below())] = v;
        kept += __popc(row);
    }
    int to = kept_before(b, t, kept);
    for (int j = threadIdx.x % 32; j < kept; j += 32) out[to + j] = mine[j];
    if (t == int(gridDim.x) - 1 && threadIdx.x == block_size - 1) *count = to + kept;
}

size_t compact_scratch(int n) { return states_bytes(n); }

void compact(const float *in, float *out, int *count, int n, void *scratch)
{
    if (n == 0) return check(cudaMemsetAsync(count, 0, sizeof(int)), "clearing the count");
    tile_states b = cleared_states(n, scratch);
    compact_tiles<<<tiles_for(n), block_size>>>(in, out, count, n, b);
    check_launch("compact_tiles");
}

static __global__ void __launch_bounds__(block_size)
    unpack_tiles(const float *packed, const unsigned char *keep, float *out, int n, tile_states b)
{
    int t = next_tile(b), first = first_of(t), kept = 0;
    unsigned marks[per_thread], rows[per_thread];
    for (int k = 0; k < per_thread; ++k) marks[k] = first + 32 * k < n ? keep[first + 32 * k] : 0;
    for (int k = 0; k < per_thread; ++k) {
        rows[k] = __ballot_sync(all_lanes, marks[k] != 0);
        kept += __popc(rows[k]);
    }
    int from = kept_before(b, t, kept);
    // All loads before the first store: the compiler cannot know that a store does not change what
    // the next load reads.
    float x[per_thread];
    for (int k = 0; k < per_thread; ++k) {
        x[k] = marks[k] != 0 ? packed[from + __popc(rows[k] & lanes_below())] : 0;
        from += __popc(rows[k]);
    }
    for (int k = 0; k < per_thread; ++k)
        if (first + 32 * k < n) out[first + 32 * k] = x[k];
}

size_t unpack_scratch(int n) { return states_bytes(n); }

void unpack(const float *packed, const unsigned char *keep, float *out, int n, void *scratch)
{
    if (n == 0) return;
    tile_states b = cleared_states(n, scratch);
    unpack_tiles<<<tiles_for(n), block_size>>>(packed, keep, out, n, b);
    check_launch("unpack_tiles");
}

// Leaves every tile's prefix in its state: only after the last is it known where the rest begins.
static __global__ void __launch_bounds__(block_size)
    count_tiles(const float *in, int n, tile_states b)
{
    float x[per_thread];
    int t = next_tile(b), kept = 0;
    load(in, n, first_of(t), x);
    for (float v : x) kept += __popc(__ballot_sync(all_lanes, v > 0));
    kept_before(b, t, kept);
}

static __global__ void __launch_bounds__(block_size)
    place_tiles(const float *in, float *out, int *kept_count, int n, tile_states b)
{
    __shared__ float staged[warps][per_warp];
    float *mine = staged[threadIdx.x / 32], x[per_thread];
    // From the last tile to the first: the last tiles read may still be in the L2.
    int t = gridDim.x - 1 - blockIdx.x, lane = threadIdx.x % 32, kept = 0, others = 0;
    int first = first_of(t);
    load(in, n, first, x);
    for (int k = 0; k < per_thread; ++k) {
        bool other = first + 32 * k < n && !(x[k] > 0);
        unsigned row = __ballot_sync(all_lanes, x[k] > 0), rest = __ballot_sync(all_lanes, other);
        // The kept from the front, the others from the end.
        if (x[k] > 0) mine[kept + __popc(row & lanes_below())] = x[k];
        if (other) mine[per_warp - 1 - others - __popc(rest & lanes_below())] = x[k];
        kept += __popc(row);
        others += __popc(rest);
    }
    int to = add_up(kept).before + (t > 0 ? count_of(b.tiles[t - 1]) : 0);
    int all = count_of(b.tiles[gridDim.x - 1]);
    for (int j = lane; j < kept; j += 32) out[to + j] = mine[j];
    // Before this warp's elements lie as many others as are not kept.
    float *rest = out + all + (first - lane - to);
    for (int j = lane; j < others; j += 32) rest[j] = mine[per_warp - 1 - j];
    if (t == 0 && threadIdx.x == 0) *kept_count = all;
}

size_t partition_scratch(int n) { return states_bytes(n); }

void partition(const float *in, float *out, int *kept_count, int n, void *scratch)
{
    if (n == 0) return check(cudaMemsetAsync(kept_count, 0, sizeof(int)), "clearing the count");
    tile_states b = cleared_states(n, scratch);
    count_tiles<<<tiles_for(n), block_size>>>(in, n, b);
    place_tiles<<<tiles_for(n), block_size>>>(in, out, kept_count, n, b);
    check_launch("count_tiles or place_tiles");
}
