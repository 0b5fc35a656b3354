// Right: Look-back by a warp, 32 tiles a step, through inline PTX (ld.relaxed, st.relaxed,
// lanemask); each 32-bit piece of a sum travels with its kind; elements change places in padded
// shared memory.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <cuda/std/bit>

constexpr int threads = 128, items = 16, tile_size = threads * items, warps = threads / 32;
using word = unsigned long long;

static int tiles_for(int n) { return n / tile_size + (n % tile_size != 0); }

static __device__ word load_word(const word *at)
{
    word w;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(w) : "l"(at) : "memory");
    return w;
}
static __device__ void store_word(word *at, word w)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(w) : "memory");
}
static __device__ unsigned lanes_below()
{
    unsigned mask;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
}

// A sum as 32-bit pieces, one for int and float and two for 64 bits.
template <class T> struct message {
    static constexpr int pieces = sizeof(T) / 4;
    struct bits {
        unsigned piece[pieces];
    };
    static __device__ void write(word *at, word kind, T sum)
    {
        bits b = cuda::std::bit_cast<bits>(sum);
        for (int p = 0; p < pieces; ++p) store_word(at + p, kind << 32 | b.piece[p]);
    }
    // The kind, 0 while nothing, or only half a message, is there.
    static __device__ unsigned read(const word *at, T &sum)
    {
        bits b;
        unsigned kind = 0;
        for (int p = 0; p < pieces; ++p) {
            word w = load_word(at + p);
            b.piece[p] = unsigned(w);
            if (p > 0 && kind != w >> 32) return 0;
            kind = w >> 32;
        }
        sum = cuda::std::bit_cast<T>(b);
        return kind;
    }
};

template <class T> static __device__ T scan_warp(T x)
{
    for (int d = 1; d < 32; d *= 2) {
        T left = __shfl_up_sync(~0u, x, d);
        if (threadIdx.x % 32 >= d) x += left;
    }
    return x;
}

// By all lanes of a warp: lane l looks at the tile l + 1 before this one.
template <class T> static __device__ T look_back(const word *board, int tile)
{
    const int lane = threadIdx.x % 32;
    T before = 0;
    for (int nearest = tile - 1;; nearest -= 32) {
        T sum = 0;
        unsigned kind = 2; // before the first tile: the sum of all is 0
        if (nearest - lane >= 0)
            while ((kind = message<T>::read(board + (nearest - lane) * message<T>::pieces, sum)) ==
                   0)
                ;
        __syncwarp();
        unsigned complete = __ballot_sync(~0u, kind == 2);
        // Lanes behind the nearest complete sum look at what that one has in it.
        if (complete & lanes_below()) sum = 0;
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
        before += sum;
        if (complete) return before;
    }
}

// Rows of 32 by turns, and runs of 16 a thread: both are free of conflicts.
static __device__ int padded(int i) { return i + i / 32; }

template <class T, bool inclusive> static __global__ void __launch_bounds__(threads)
    scan_tiles(const T *in, T *out, int n, unsigned *ticket, word *board)
{
    __shared__ T values[tile_size + tile_size / 32], of_warps[warps], before_tile;
    __shared__ int shared_tile;
    const int t = threadIdx.x, warp = t / 32, lane = t % 32;
    if (t == 0) shared_tile = ticket ? atomicAdd(ticket, 1) : 0;
    __syncthreads();
    const int tile = shared_tile, base = tile * tile_size;
    for (int i = t; i < tile_size; i += threads)
        values[padded(i)] = base + i < n ? in[base + i] : T(0);
    __syncthreads();
    T x[items], sum = 0; // a run of neighbours each
    for (int k = 0; k < items; ++k) {
        T mine = values[padded(t * items + k)];
        x[k] = inclusive ? sum + mine : sum;
        sum += mine;
    }
    T upto = scan_warp(sum), before = __shfl_up_sync(~0u, upto, 1);
    if (lane == 0) before = 0;
    if (lane == 31) of_warps[warp] = upto;
    __syncthreads();
    for (int w = 0; w < warp; ++w) before = of_warps[w] + before;
    if (warp == 0 && board != nullptr) {
        T all = 0;
        for (int w = 0; w < warps; ++w) all += of_warps[w];
        word *mine = board + tile * message<T>::pieces;
        if (lane == 0) message<T>::write(mine, 1, all);
        T found = look_back<T>(board, tile);
        if (lane == 0) message<T>::write(mine, 2, found + all);
        if (lane == 0) before_tile = found;
    }
    __syncthreads();
    if (board != nullptr) before = before_tile + before;
    for (int k = 0; k < items; ++k) values[padded(t * items + k)] = before + x[k];
    __syncthreads();
    for (int i = t; i < tile_size && base + i < n; i += threads) out[base + i] = values[padded(i)];
}

template <class T> static size_t bytes_for(int n)
{
    return 256 + sizeof(word) * message<T>::pieces * tiles_for(n);
}

template <class T, bool inclusive> static void scan(const T *in, T *out, int n, void *scratch)
{
    if (n == 0) return;
    check(cudaMemsetAsync(scratch, 0, bytes_for<T>(n)), "clearing the board");
    scan_tiles<T, inclusive><<<tiles_for(n), threads>>>(
        in, out, n, static_cast<unsigned *>(scratch), static_cast<word *>(scratch) + 32);
    check_launch("scan_tiles");
}

void scan_block_inclusive(const int *in, int *out, int n)
{
    scan_tiles<int, true><<<1, threads>>>(in, out, n, nullptr, nullptr);
    check_launch("scan_tiles");
}
void scan_block_exclusive(const int *in, int *out, int n)
{
    scan_tiles<int, false><<<1, threads>>>(in, out, n, nullptr, nullptr);
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
