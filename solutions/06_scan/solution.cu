// Lab 06, worked: one pass, and several elements per lane, in pieces of 16 bytes.
//
// From rung 7: the tile states, the tickets, the look-back, and rows. New: a row is 32 pieces. A
// lane adds up its piece alone, so that the shuffles of a row serve 128 ints and not 32, and 16
// bytes are loaded at a time; a tile is so large, 12288 ints, that the wait for the look-back does
// not show.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <cstring>

constexpr int block_size = 256, warps = block_size / 32, rows = 12;
// On a multiprocessor: more would leave too few registers for rows.
constexpr int blocks_at_once = 3;
constexpr unsigned all_lanes = 0xffffffff;

// What a lane loads and stores at once.
template <class T> struct alignas(16) piece {
    T x[16 / sizeof(T)];
};
template <class T> constexpr int elements_per_piece = 16 / sizeof(T);
template <class T> constexpr int elements_per_row = 32 * elements_per_piece<T>;
template <class T> constexpr int tile = block_size *rows *elements_per_piece<T>;

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

template <class T> static int tiles_for(int n) { return n / tile<T> + (n % tile<T> != 0); }

template <class T> static size_t scratch_bytes(int n)
{
    return sizeof(word) * tile_states<T>::words * tiles_for<T>(n) + sizeof(int);
}

template <class T> static tile_states<T> cleared_states(int n, void *scratch)
{
    check(cudaMemsetAsync(scratch, 0, scratch_bytes<T>(n)), "clearing the states");
    word *tiles = static_cast<word *>(scratch);
    return {tiles, reinterpret_cast<int *>(tiles + tile_states<T>::words * tiles_for<T>(n))};
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
template <bool inclusive, class T> static __device__ T scan_rows(piece<T> (&mine)[rows])
{
    T of_rows = 0;
#pragma unroll
    for (piece<T> &p : mine) {
        T of_piece = 0;
        for (T x : p.x) of_piece += x;
        T inclusive_sum = sum_in_warp(of_piece);
        T before = __shfl_up_sync(all_lanes, inclusive_sum, 1);
        before = lane() > 0 ? of_rows + before : of_rows;
        of_rows += __shfl_sync(all_lanes, inclusive_sum, 31);
        for (T &x : p.x) {
            T with_it = before + x;
            x = inclusive ? with_it : before;
            before = with_it;
        }
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

// Only an array that begins at a multiple of 16 bytes can be taken in pieces.
static __device__ bool in_pieces(const void *array)
{
    return reinterpret_cast<size_t>(array) % sizeof(piece<int>) == 0;
}

// This lane's piece of each row from element `first` on; where an element is beyond n: 0.
template <class T>
static __device__ void load(const T *in, int n, int first, bool whole, piece<T> (&mine)[rows])
{
    if (whole && in_pieces(in)) {
        for (int k = 0; k < rows; ++k)
            mine[k] = *reinterpret_cast<const piece<T> *>(in + first + k * elements_per_row<T>);
        return;
    }
    for (int k = 0; k < rows; ++k)
        for (int j = 0; j < elements_per_piece<T>; ++j) {
            int i = first + k * elements_per_row<T> + j;
            mine[k].x[j] = i < n ? in[i] : T(0);
        }
}

template <class T>
static __device__ void store(T *out, int n, int first, bool whole, const piece<T> (&mine)[rows])
{
    if (whole && in_pieces(out)) {
        for (int k = 0; k < rows; ++k)
            *reinterpret_cast<piece<T> *>(out + first + k * elements_per_row<T>) = mine[k];
        return;
    }
    for (int k = 0; k < rows; ++k)
        for (int j = 0; j < elements_per_piece<T>; ++j) {
            int i = first + k * elements_per_row<T> + j;
            if (i < n) out[i] = mine[k].x[j];
        }
}

template <bool inclusive, class T>
static __global__ void __launch_bounds__(block_size, blocks_at_once)
    scan_tiles(const T *in, T *out, int n, tile_states<T> b)
{
    piece<T> mine[rows];
    int t = next_tile(b.taken);
    bool whole = t < n / tile<T>;
    int first = t * tile<T> + threadIdx.x / 32 * rows * elements_per_row<T> +
                lane() * elements_per_piece<T>;
    load(in, n, first, whole, mine);
    T before = sum_before(b, t, scan_rows<inclusive>(mine));
    for (piece<T> &p : mine)
        for (T &x : p.x) x = before + x;
    store(out, n, first, whole, mine);
}

template <bool inclusive, class T> static void scan(const T *in, T *out, int n, void *scratch)
{
    if (n == 0) return;
    tile_states<T> b = cleared_states<T>(n, scratch);
    scan_tiles<inclusive><<<tiles_for<T>(n), block_size>>>(in, out, n, b);
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

// One tile is enough here, and nobody to look back at.
template <bool inclusive> static __global__ void __launch_bounds__(block_size, blocks_at_once)
    scan_tile(const int *in, int *out, int n)
{
    piece<int> mine[rows];
    int first = threadIdx.x / 32 * rows * elements_per_row<int> + lane() * elements_per_piece<int>;
    load(in, n, first, false, mine);
    int before = add_up(scan_rows<inclusive>(mine)).before;
    for (piece<int> &p : mine)
        for (int &x : p.x) x += before;
    store(out, n, first, false, mine);
}

void scan_block_inclusive(const int *in, int *out, int n)
{
    scan_tile<true><<<1, block_size>>>(in, out, n);
    check_launch("scan_tile");
}

void scan_block_exclusive(const int *in, int *out, int n)
{
    scan_tile<false><<<1, block_size>>>(in, out, n);
    check_launch("scan_tile");
}
