// Lab 06, rung 7: tiles of 4096 elements in place of 1024. There are four times fewer to publish
// and to look back at, and a block has four times the bytes under way while it waits.
//
// New: a lane has `rows` elements, one in each row of 32 that its warp has, and scan_rows takes the
// place of scan_in_block. Each row still takes five shuffles for 32 elements: see the solution.
// Unchanged: scan_block_inclusive, scan_block_exclusive, scan_exclusive, scan_inclusive_int64,
// scan_inclusive_float.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <cstring>

constexpr int block_size = 256, warps = block_size / 32, rows = 16;
constexpr int tile = block_size * rows, warp_tile = 32 * rows; // elements
constexpr unsigned all_lanes = 0xffffffff;

// How much a tile has published: nothing, the sum of the tile alone, or that of the tile and all
// before it. Each word of it holds the state and 32 bits of a sum, so nobody sees only one of them;
// and each state is published once, so that words of the same state belong together. No fence is
// needed.
using word = unsigned long long;
enum state : unsigned { invalid, aggregate, prefix };

template <class T> struct tile_state {
    state kind;
    T value;
};

// Scratch: some words per tile, and how many tiles have been taken.
template <class T> struct tile_states {
    static constexpr int words = sizeof(T) / 4;
    volatile word *tiles;
    int *taken;

    __device__ void publish(int t, const tile_state<T> &m) const
    {
        unsigned bits[words];
        memcpy(bits, &m.value, sizeof(T));
        for (int k = 0; k < words; ++k) tiles[t * words + k] = word(m.kind) << 32 | bits[k];
    }
    __device__ tile_state<T> read(int t) const
    {
        unsigned bits[words], kinds[words];
        for (int k = 0; k < words; ++k) {
            word w = tiles[t * words + k];
            bits[k] = unsigned(w), kinds[k] = unsigned(w >> 32);
        }
        tile_state<T> m{state(kinds[0]), T(0)};
        if (kinds[words - 1] != kinds[0]) m.kind = invalid;
        memcpy(&m.value, bits, sizeof(T));
        return m;
    }
};

static int tiles_for(int n) { return n / tile + (n % tile != 0); }

template <class T> static size_t scratch_bytes(int n)
{
    return sizeof(word) * tile_states<T>::words * tiles_for(n) + sizeof(int);
}

template <class T> static tile_states<T> cleared_states(int n, void *scratch)
{
    check(cudaMemsetAsync(scratch, 0, scratch_bytes<T>(n)), "clearing the states");
    word *tiles = static_cast<word *>(scratch);
    return {tiles, reinterpret_cast<int *>(tiles + tile_states<T>::words * tiles_for(n))};
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
template <class T> static __device__ T sum_in_warp(T x)
{
    for (int distance = 1; distance < 32; distance *= 2) {
        T left = __shfl_up_sync(all_lanes, x, distance);
        if (lane() >= distance) x += left;
    }
    return x;
}

// Puts into each element the sum of the warp's elements before it, and returns that of all.
template <bool inclusive, class T> static __device__ T scan_rows(T (&mine)[rows])
{
    T of_rows = 0;
#pragma unroll
    for (T &x : mine) {
        T up_to = sum_in_warp(x), before = __shfl_up_sync(all_lanes, up_to, 1);
        if (lane() == 0) before = 0;
        x = of_rows + (inclusive ? up_to : before);
        of_rows += __shfl_sync(all_lanes, up_to, 31);
    }
    return of_rows;
}

// The sums of the warps of this block before this one, and of all of them.
template <class T> struct block_sums {
    T before = 0, all = 0;
};

template <class T> static __device__ block_sums<T> add_up(T of_this_warp)
{
    __shared__ T of_warps[warps];
    if (lane() == 0) of_warps[threadIdx.x / 32] = of_this_warp;
    __syncthreads();
    block_sums<T> sums;
    for (int w = 0; w < warps; ++w) {
        if (w < int(threadIdx.x / 32)) sums.before += of_warps[w];
        sums.all += of_warps[w];
    }
    return sums;
}

// The sum of all before tile t, found out by one warp: 32 tiles at a time.
template <class T> static __device__ T look_back(const tile_states<T> &b, int t)
{
    T before = 0;
    unsigned prefixes = 0;
    for (int nearest = t - 1; nearest >= 0 && prefixes == 0; nearest -= 32) {
        tile_state<T> m;
        unsigned needed;
        do {
            m = lane() <= nearest ? b.read(nearest - lane()) : tile_state<T>{prefix, T(0)};
            prefixes = __ballot_sync(all_lanes, m.kind == prefix);
            // The lanes up to the first that knows of all before it; all where none does.
            needed = prefixes ^ (prefixes - 1);
        } while (__ballot_sync(all_lanes, m.kind == invalid) & needed);
        T value = needed >> lane() & 1 ? m.value : T(0);
        for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(all_lanes, value, d);
        before += value;
    }
    return before;
}

// The sum of all before this warp's elements, whose sum is `of_this_warp`.
template <class T> static __device__ T sum_before(const tile_states<T> &b, int t, T of_this_warp)
{
    __shared__ T before;
    block_sums<T> here = add_up(of_this_warp);
    if (threadIdx.x < 32) {
        if (lane() == 0) b.publish(t, {aggregate, here.all});
        T before_tile = look_back(b, t);
        if (lane() == 0) {
            b.publish(t, {prefix, before_tile + here.all});
            before = before_tile;
        }
    }
    __syncthreads();
    return before + here.before;
}

// Element k of this lane is at first + 32 k; where there is none: 0.
template <class T> static __device__ void load(const T *in, int n, int first, T (&mine)[rows])
{
    for (int k = 0; k < rows; ++k) mine[k] = first + 32 * k < n ? in[first + 32 * k] : T(0);
}

template <class T>
static __device__ void add_and_store(T *out, int n, int first, T before, const T (&mine)[rows])
{
    for (int k = 0; k < rows; ++k)
        if (first + 32 * k < n) out[first + 32 * k] = before + mine[k];
}

template <bool inclusive, class T> static __global__ void __launch_bounds__(block_size)
    scan_tiles(const T *in, T *out, int n, tile_states<T> b)
{
    T mine[rows];
    int t = next_tile(b.taken), first = t * tile + int(threadIdx.x) / 32 * warp_tile + lane();
    load(in, n, first, mine);
    T before = sum_before(b, t, scan_rows<inclusive>(mine));
    add_and_store(out, n, first, before, mine);
}

template <bool inclusive, class T> static void scan(const T *in, T *out, int n, void *scratch)
{
    if (n == 0) return;
    tile_states<T> b = cleared_states<T>(n, scratch);
    scan_tiles<inclusive><<<tiles_for(n), block_size>>>(in, out, n, b);
    check_launch("scan_tiles");
}

size_t scan_inclusive_scratch(int n) { return scratch_bytes<int>(n); }
void scan_inclusive(const int *in, int *out, int n, void *scratch)
{
    scan<true>(in, out, n, scratch);
}
