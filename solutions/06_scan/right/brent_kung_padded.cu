// Right: Brent-Kung's tree (Blelloch's way down where it is exclusive) in padded shared memory,
// then look-back over volatile words with fences, flags apart from the sums.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int tile_size = 2048, threads = tile_size / 2;

static int tiles_for(int n) { return n / tile_size + (n % tile_size != 0); }

// A word is skipped after every 32, so that elements a power of two apart are in different banks.
static __device__ int place(int i) { return i + (i >> 5); }
constexpr int places = tile_size + tile_size / 32;

// Up: at stride s, element 2 s k + 2 s - 1 gets the sum of its 2 s.
template <class T> static __device__ void add_up(T *sums)
{
    for (int s = 1; s < tile_size; s *= 2) {
        __syncthreads();
        int right = (threadIdx.x + 1) * 2 * s - 1;
        if (right < tile_size) sums[place(right)] += sums[place(right - s)];
    }
}

// Down, as Brent and Kung have it: the element s further gets what ends before it. The inclusive
// scan comes out.
template <class T> static __device__ void spread_inclusive(T *sums)
{
    for (int s = tile_size / 4; s > 0; s /= 2) {
        __syncthreads();
        int left = threadIdx.x * 2 * s - 1;
        if (left > 0 && left + s < tile_size) sums[place(left + s)] += sums[place(left)];
    }
    __syncthreads();
}

// Down, as Blelloch has it, from a root that is 0. The exclusive scan comes out.
template <class T> static __device__ void spread_exclusive(T *sums)
{
    for (int s = tile_size / 2; s > 0; s /= 2) {
        __syncthreads();
        int right = (threadIdx.x + 1) * 2 * s - 1;
        if (right >= tile_size) continue;
        T before = sums[place(right)];
        sums[place(right)] = before + sums[place(right - s)];
        sums[place(right - s)] = before;
    }
    __syncthreads();
}

template <class T> struct board {
    int *ticket;
    volatile int *kind; // 0: nothing told yet, 1: own sum, 2: sum of all
    volatile T *own, *all;
};

// By one thread. The fence after the kind keeps the load of the sum behind it.
template <class T> static __device__ T tell_and_look_back(board<T> b, int tile, T sum)
{
    b.own[tile] = sum;
    __threadfence();
    b.kind[tile] = 1;
    T before = 0;
    for (int t = tile - 1, kind = 0; t >= 0 && kind != 2; --t) {
        do kind = b.kind[t];
        while (kind == 0);
        __threadfence();
        before = (kind == 2 ? b.all[t] : b.own[t]) + before;
    }
    b.all[tile] = before + sum;
    __threadfence();
    b.kind[tile] = 2;
    return before;
}

// Without a board there is one tile, and nothing comes before it.
template <class T, bool inclusive> static __global__ void __launch_bounds__(threads)
    scan_tiles(const T *in, T *out, int n, board<T> b)
{
    __shared__ T sums[places], before;
    __shared__ int tile;
    if (threadIdx.x == 0) tile = b.ticket ? atomicAdd(b.ticket, 1) : 0;
    __syncthreads();
    const int i = tile * tile_size + threadIdx.x, j = i + threads;
    sums[place(threadIdx.x)] = i < n ? in[i] : T(0);
    sums[place(threadIdx.x + threads)] = j < n ? in[j] : T(0);
    add_up(sums);
    __syncthreads();
    if (threadIdx.x == 0) {
        T &last = sums[place(tile_size - 1)], sum = last;
        if (!inclusive) last = 0;
        before = b.ticket ? tell_and_look_back(b, tile, sum) : T(0);
    }
    inclusive ? spread_inclusive(sums) : spread_exclusive(sums);
    if (i < n) out[i] = before + sums[place(threadIdx.x)];
    if (j < n) out[j] = before + sums[place(threadIdx.x + threads)];
}

template <class T> static size_t bytes_for(int n)
{
    return 256 + (2 * sizeof(T) + sizeof(int)) * tiles_for(n);
}

template <class T, bool inclusive> static void scan(const T *in, T *out, int n, void *scratch)
{
    if (n == 0) return;
    const int tiles = tiles_for(n);
    board<T> b;
    b.ticket = static_cast<int *>(scratch);
    b.own = reinterpret_cast<T *>(b.ticket + 64);
    b.all = b.own + tiles;
    b.kind = reinterpret_cast<volatile int *>(b.all + tiles);
    check(cudaMemsetAsync(scratch, 0, bytes_for<T>(n)), "clearing the board");
    scan_tiles<T, inclusive><<<tiles, threads>>>(in, out, n, b);
    check_launch("scan_tiles");
}

void scan_block_inclusive(const int *in, int *out, int n)
{
    scan_tiles<int, true><<<1, threads>>>(in, out, n, {});
    check_launch("scan_tiles");
}
void scan_block_exclusive(const int *in, int *out, int n)
{
    scan_tiles<int, false><<<1, threads>>>(in, out, n, {});
    check_launch("scan_tiles");
}
size_t scan_inclusive_scratch(int n) { return bytes_for<int>(n); }
size_t scan_exclusive_scratch(int n) { return bytes_for<int>(n); }
size_t scan_inclusive_int64_scratch(int n) { return bytes_for<std::int64_t>(n); }
size_t scan_inclusive_float_scratch(int n) { return bytes_for<float>(n); }
void scan_inclusive(const int *in, int *out, int n, void *s) { scan<int, true>(in, out, n, s); }
void scan_exclusive(const int *in, int *out, int n, void *s) { scan<int, false>(in, out, n, s); }
void scan_inclusive_int64(const std::int64_t *in, std::int64_t *out, int n, void *s)
{
    scan<std::int64_t, true>(in, out, n, s);
}
void scan_inclusive_float(const float *in, float *out, int n, void *s)
{
    scan<float, true>(in, out, n, s);
}
