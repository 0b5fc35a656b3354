// Fails: scan_inclusive: blocks in any order | TIMEOUT | Blocks may begin in any order
// On gpu: passes - it begins blocks in the order of blockIdx, which nobody promises
// A block scans the tile of its blockIdx.x, and waits for blocks that may not have begun.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 512, warps = block_size / 32;
constexpr int per_thread = 4, tile = block_size * per_thread;
constexpr unsigned all_lanes = 0xffffffff;

static int tiles_for(int n) { return n / tile + (n % tile != 0); }

// Of each tile: the sum of its elements, then that of all up to its end, and which of them are
// there. No sum changes once its state says that it is there.
enum state : unsigned { invalid, aggregate, inclusive_prefix };
template <class T> struct tile_states {
    volatile T *aggregates, *prefixes;
    volatile unsigned *states;

    __device__ void publish(int t, state s, T sum) const
    {
        (s == aggregate ? aggregates : prefixes)[t] = sum;
        __threadfence();
        states[t] = s;
    }
};

// Where element i lies in shared memory, so that a warp's accesses to neighbours four apart meet
// different banks.
static __device__ int padded(int i) { return i + i / 32; }

template <class T> static __device__ T scan_warp(T x)
{
    for (int d = 1; d < 32; d *= 2) {
        T left = __shfl_up_sync(all_lanes, x, d);
        if (threadIdx.x % 32 >= d) x = left + x;
    }
    return x;
}

// The sum of all elements before tile t, by one warp: lane l looks at tile t - 1 - l.
template <class T> static __device__ T look_back(const tile_states<T> &of, int t)
{
    const int lane = threadIdx.x % 32;
    T before = 0;
    for (int last = t - 1; last >= 0; last -= 32) {
        unsigned s = inclusive_prefix; // nothing lies before the first tile
        do {
            if (last >= lane) s = of.states[last - lane];
        } while (__any_sync(all_lanes, s == invalid));
        __threadfence();
        T sum = last < lane      ? T(0)
                : s == aggregate ? of.aggregates[last - lane]
                                 : of.prefixes[last - lane];
        const unsigned complete = __ballot_sync(all_lanes, s == inclusive_prefix);
        if (complete & ((1u << lane) - 1)) sum = 0; // a nearer prefix holds it
        for (int d = 16; d > 0; d /= 2) sum = __shfl_xor_sync(all_lanes, sum, d) + sum;
        before = sum + before;
        if (complete) break;
    }
    return before;
}

template <bool inclusive, class T>
static __global__ void scan_tiles(const T *in, T *out, int n, tile_states<T> of)
{
    __shared__ T elements[tile + tile / 32], up_to[warps], before_tile;
    const int t = blockIdx.x, first = t * tile, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = threadIdx.x; i < tile; i += block_size)
        elements[padded(i)] = first + i < n ? in[first + i] : T(0);
    __syncthreads();
    const int mine = threadIdx.x * per_thread;
    T sum = 0;
    for (int k = 0; k < per_thread; ++k) sum += elements[padded(mine + k)];
    T with = scan_warp(sum), before = __shfl_up_sync(all_lanes, with, 1);
    if (lane == 0) before = 0;
    if (lane == 31) up_to[warp] = with;
    __syncthreads();
    if (warp == 0) {
        T x = scan_warp(lane < warps ? up_to[lane] : T(0));
        if (lane < warps) up_to[lane] = x;
        x = __shfl_sync(all_lanes, x, warps - 1);
        T found = 0;
        if (of.states != nullptr) { // more than one tile
            if (lane == 0) of.publish(t, aggregate, x);
            found = look_back(of, t);
            if (lane == 0) of.publish(t, inclusive_prefix, found + x);
        }
        if (lane == 0) before_tile = found;
    }
    __syncthreads();
    before = before_tile + (warp > 0 ? up_to[warp - 1] + before : before);
    for (int k = 0; k < per_thread; ++k) {
        T &at = elements[padded(mine + k)], x = at;
        at = inclusive ? before + x : before;
        before += x;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < tile; i += block_size)
        if (first + i < n) out[first + i] = elements[padded(i)];
}

template <class T> static size_t bytes_for(int n)
{
    return (2 * sizeof(T) + sizeof(unsigned)) * tiles_for(n);
}

template <bool inclusive, class T> static void scan(const T *in, T *out, int n, void *scratch)
{
    const int tiles = tiles_for(n);
    if (tiles == 0) return;
    cudaMemsetAsync(scratch, 0, bytes_for<T>(n));
    T *sums = static_cast<T *>(scratch);
    scan_tiles<inclusive, T><<<tiles, block_size>>>(
        in, out, n, {sums, sums + tiles, reinterpret_cast<unsigned *>(sums + 2 * tiles)});
}

void scan_block_inclusive(const int *in, int *out, int n)
{
    scan_tiles<true, int><<<1, block_size>>>(in, out, n, {});
}
void scan_block_exclusive(const int *in, int *out, int n)
{
    scan_tiles<false, int><<<1, block_size>>>(in, out, n, {});
}
size_t scan_inclusive_scratch(int n) { return bytes_for<int>(n); }
void scan_inclusive(const int *in, int *out, int n, void *s) { scan<true>(in, out, n, s); }
size_t scan_exclusive_scratch(int n) { return bytes_for<int>(n); }
void scan_exclusive(const int *in, int *out, int n, void *s) { scan<false>(in, out, n, s); }
size_t scan_inclusive_int64_scratch(int n) { return bytes_for<std::int64_t>(n); }
void scan_inclusive_int64(const std::int64_t *in, std::int64_t *out, int n, void *s)
{
    scan<true>(in, out, n, s);
}
size_t scan_inclusive_float_scratch(int n) { return bytes_for<float>(n); }
void scan_inclusive_float(const float *in, float *out, int n, void *s)
{
    scan<true>(in, out, n, s);
}
