// Lab 06, rung 6: one kernel, in which an element is read once and written once. A block does not
// wait for a kernel to end to learn what lies before it: it looks back at what the blocks before it
// have published.
//
// New: sum_before, by way of look_back, in place of scan_sums and add_before. With it come the
// tile states, which must be cleared before every call, and tiles, as many elements as a block has,
// that are taken from a counter. A tile of 1024 elements is soon scanned and then waits: see the
// next rung.
// Unchanged: scan_block_inclusive, scan_block_exclusive.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <cstring>

constexpr int block_size = 1024; // threads, and elements of a tile
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

static int tiles_for(int n) { return n / block_size + (n % block_size != 0); }

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

// A thread's prefix sums in its warp or its block: without its x and with it.
template <class T> struct sums_of {
    T exclusive, inclusive;
};

template <class T> static __device__ sums_of<T> scan_in_warp(T x)
{
    for (int distance = 1; distance < 32; distance *= 2) {
        T left = __shfl_up_sync(all_lanes, x, distance);
        if (lane() >= distance) x = left + x;
    }
    T left = __shfl_up_sync(all_lanes, x, 1);
    return {lane() > 0 ? left : T(0), x};
}

template <class T> static __device__ sums_of<T> scan_in_block(T x)
{
    __shared__ T of_warps[32]; // one sum per warp, then their exclusive prefix sums
    int warp = threadIdx.x / 32;
    sums_of<T> sums = scan_in_warp(x);
    if (lane() == 31) of_warps[warp] = sums.inclusive;
    __syncthreads();
    if (warp == 0)
        of_warps[lane()] = scan_in_warp(of_warps[lane()]).exclusive; // 32 warps, 32 lanes
    __syncthreads();
    return {of_warps[warp] + sums.exclusive, of_warps[warp] + sums.inclusive};
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

// The sum of all before tile t. The last thread's `inclusive` is the sum of the tile.
template <class T> static __device__ T sum_before(const tile_states<T> &b, int t, T inclusive)
{
    __shared__ T of_tile, before;
    if (threadIdx.x == block_size - 1) of_tile = inclusive;
    __syncthreads();
    if (threadIdx.x < 32) {
        if (lane() == 0) b.publish(t, {aggregate, of_tile});
        T before_tile = look_back(b, t);
        if (lane() == 0) {
            b.publish(t, {prefix, before_tile + of_tile});
            before = before_tile;
        }
    }
    __syncthreads();
    return before;
}

template <bool inclusive, class T> static __global__ void __launch_bounds__(block_size)
    scan_tiles(const T *in, T *out, int n, tile_states<T> b)
{
    int t = next_tile(b.taken), i = t * block_size + threadIdx.x;
    sums_of<T> sums = scan_in_block(i < n ? in[i] : T(0));
    T before = sum_before(b, t, sums.inclusive);
    if (i < n) out[i] = before + (inclusive ? sums.inclusive : sums.exclusive);
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

size_t scan_exclusive_scratch(int n) { return scratch_bytes<int>(n); }
void scan_exclusive(const int *in, int *out, int n, void *scratch)
{
    scan<false>(in, out, n, scratch);
}

size_t scan_inclusive_int64_scratch(int n) { return scratch_bytes<std::int64_t>(n); }
void scan_inclusive_int64(const std::int64_t *in, std::int64_t *out, int n, void *scratch)
{
    scan<true>(in, out, n, scratch);
}

size_t scan_inclusive_float_scratch(int n) { return scratch_bytes<float>(n); }
void scan_inclusive_float(const float *in, float *out, int n, void *scratch)
{
    scan<true>(in, out, n, scratch);
}
