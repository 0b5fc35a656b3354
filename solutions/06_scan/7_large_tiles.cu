// Lab 06, rung 7: tiles of 4096 elements in place of 1024. There are four times fewer to publish
// and to look back at, and a block has four times the bytes in flight while it waits.
//
// New: a lane has `rows` elements, one in each row of 32 that its warp has, and scan_rows takes the
// place of scan_in_block. Each row still takes six shuffles for 32 elements: see the solution.
// Unchanged: scan_block_inclusive, scan_block_exclusive, scan_exclusive, scan_inclusive_int64,
// scan_inclusive_float.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, warps = block_size / 32, rows = 16;
constexpr int tile = block_size * rows, warp_tile = 32 * rows; // elements
constexpr unsigned all_lanes = 0xffffffff;

// How much a tile has published: nothing, the sum of the tile alone, or that of the tile and all
// before it. State and sum are one word, so nobody sees only one of them, and no fence is needed.
using word = unsigned long long;
enum state : unsigned { invalid, aggregate, prefix };

struct tile_state {
    state kind;
    int value;
};

// Scratch: one word per tile, and how many tiles have been taken.
struct tile_states {
    volatile word *tiles;
    int *taken;

    __device__ void publish(int t, const tile_state &m) const
    {
        tiles[t] = word(m.kind) << 32 | unsigned(m.value);
    }
    __device__ tile_state read(int t) const
    {
        word w = tiles[t];
        return {state(w >> 32), int(unsigned(w))};
    }
};

static int tiles_for(int n) { return n / tile + (n % tile != 0); }

size_t scan_inclusive_scratch(int n) { return sizeof(word) * tiles_for(n) + sizeof(int); }

static tile_states cleared_states(int n, void *scratch)
{
    check(cudaMemsetAsync(scratch, 0, scan_inclusive_scratch(n)), "clearing the states");
    word *tiles = static_cast<word *>(scratch);
    return {tiles, reinterpret_cast<int *>(tiles + tiles_for(n))};
}

// A block takes its tile when it runs, so that every tile it may wait for is at work already,
// whatever the order in which blocks are started.
static __device__ int next_tile(int *taken)
{
    __shared__ int t;
    if (threadIdx.x == 0) t = atomicAdd(taken, 1);
    __syncthreads();
    return t;
}

static __device__ int lane() { return threadIdx.x % 32; }

// The sum of x over this lane and all before it in the warp.
static __device__ int sum_in_warp(int x)
{
    for (int distance = 1; distance < 32; distance *= 2) {
        int left = __shfl_up_sync(all_lanes, x, distance);
        if (lane() >= distance) x += left;
    }
    return x;
}

// Puts into each element the sum of it and the warp's elements before it, and returns that of all.
static __device__ int scan_rows(int (&mine)[rows])
{
    int of_rows = 0;
#pragma unroll
    for (int &x : mine) {
        int inclusive = sum_in_warp(x);
        x = of_rows + inclusive;
        of_rows += __shfl_sync(all_lanes, inclusive, 31);
    }
    return of_rows;
}

// The sums of the warps of this block before this one, and of all of them.
struct block_sums {
    int before = 0, all = 0;
};

static __device__ block_sums add_up(int of_this_warp)
{
    __shared__ int of_warps[warps];
    if (lane() == 0) of_warps[threadIdx.x / 32] = of_this_warp;
    __syncthreads();
    block_sums sums;
    for (int w = 0; w < warps; ++w) {
        if (w < int(threadIdx.x / 32)) sums.before += of_warps[w];
        sums.all += of_warps[w];
    }
    return sums;
}

// The sum of all before tile t, found out by one warp: 32 tiles at a time.
static __device__ int look_back(const tile_states &b, int t)
{
    int before = 0;
    unsigned prefixes = 0;
    for (int nearest = t - 1; nearest >= 0 && prefixes == 0; nearest -= 32) {
        tile_state m;
        unsigned needed;
        do {
            m = lane() <= nearest ? b.read(nearest - lane()) : tile_state{prefix, 0};
            prefixes = __ballot_sync(all_lanes, m.kind == prefix);
            // The lanes up to the first that knows of all before it; all where none does.
            needed = prefixes ^ (prefixes - 1);
        } while (__ballot_sync(all_lanes, m.kind == invalid) & needed);
        int value = needed >> lane() & 1 ? m.value : 0;
        for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(all_lanes, value, d);
        before += value;
    }
    return before;
}

// The sum of all before this warp's elements, whose sum is `of_this_warp`.
static __device__ int sum_before(const tile_states &b, int t, int of_this_warp)
{
    __shared__ int before;
    block_sums here = add_up(of_this_warp);
    if (threadIdx.x < 32) {
        if (lane() == 0) b.publish(t, {aggregate, here.all});
        int before_tile = look_back(b, t);
        if (lane() == 0) {
            b.publish(t, {prefix, before_tile + here.all});
            before = before_tile;
        }
    }
    __syncthreads();
    return before + here.before;
}

// Element k of this lane is at first + 32 k; where there is none: 0.
static __device__ void load(const int *in, int n, int first, int (&mine)[rows])
{
    for (int k = 0; k < rows; ++k) mine[k] = first + 32 * k < n ? in[first + 32 * k] : 0;
}

static __device__ void add_and_store(int *out, int n, int first, int before,
                                     const int (&mine)[rows])
{
    for (int k = 0; k < rows; ++k)
        if (first + 32 * k < n) out[first + 32 * k] = before + mine[k];
}

static __global__ void __launch_bounds__(block_size)
    scan_tiles(const int *in, int *out, int n, tile_states b)
{
    int mine[rows];
    int t = next_tile(b.taken), first = t * tile + int(threadIdx.x) / 32 * warp_tile + lane();
    load(in, n, first, mine);
    int before = sum_before(b, t, scan_rows(mine));
    add_and_store(out, n, first, before, mine);
}

void scan_inclusive(const int *in, int *out, int n, void *scratch)
{
    if (n == 0) return;
    tile_states b = cleared_states(n, scratch);
    scan_tiles<<<tiles_for(n), block_size>>>(in, out, n, b);
    check_launch("scan_tiles");
}
