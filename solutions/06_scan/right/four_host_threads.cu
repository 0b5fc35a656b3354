// Right: Four host threads launch on a stream each; their blocks draw tiles from one counter, so
// that no launch waits for one that has not begun; 2-D blocks, RAII streams and events.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <array>
#include <exception>
#include <thread>

constexpr int launches = 4, warps = 8, rows = 8, tile_size = 32 * warps * rows;

static int tiles_for(int n) { return (n + tile_size - 1) / tile_size; }

struct stream {
    cudaStream_t is;
    stream() { check(cudaStreamCreateWithFlags(&is, cudaStreamNonBlocking), "stream"); }
    ~stream() { cudaStreamDestroy(is); }
    stream(const stream &) = delete;
};
struct event {
    cudaEvent_t is;
    event() { check(cudaEventCreateWithFlags(&is, cudaEventDisableTiming), "event"); }
    ~event() { cudaEventDestroy(is); }
    event(const event &) = delete;
};

template <class T> struct look_back_board {
    int *ticket, *kind; // kind: 1 own, 2 all
    T *own, *all;
    static size_t bytes(int n) { return 256 + (2 * sizeof(T) + sizeof(int)) * tiles_for(n); }
    look_back_board(void *scratch, int n)
        : ticket(static_cast<int *>(scratch)),
          kind(ticket + 64 + 2 * tiles_for(n) * (sizeof(T) / 4)),
          own(reinterpret_cast<T *>(ticket + 64)),
          all(own + tiles_for(n))
    {
    }
};

// threadIdx.x is the lane, threadIdx.y the warp.
template <class T> static __device__ T scan_warp(T x)
{
    for (unsigned d = 1; d < 32; d *= 2) {
        T left = __shfl_up_sync(~0u, x, d);
        if (threadIdx.x >= d) x += left;
    }
    return x;
}

template <class T> static __device__ void tell(int *kind, T *sum, int what, T value)
{
    *sum = value;
    __threadfence();
    atomicExch(kind, what);
}

template <class T, bool inclusive>
static __device__ void scan_tile(const T *in, T *out, int n, int tile, const look_back_board<T> *b)
{
    __shared__ T of_warps[warps + 1], before_tile;
    const int lane = threadIdx.x, warp = threadIdx.y;
    const int first = tile * tile_size + warp * 32 * rows + lane;
    T x[rows], carry = 0;
    for (int r = 0; r < rows; ++r) {
        T sum = scan_warp(first + 32 * r < n ? in[first + 32 * r] : T(0));
        T left = __shfl_up_sync(~0u, sum, 1);
        x[r] = carry + (inclusive ? sum : lane > 0 ? left : T(0));
        carry += __shfl_sync(~0u, sum, 31);
    }
    if (lane == 0) of_warps[warp] = carry;
    __syncthreads();
    if (warp == 0) {
        T sum = scan_warp(lane < warps ? of_warps[lane] : T(0));
        T all = __shfl_sync(~0u, sum, warps - 1), before = __shfl_up_sync(~0u, sum, 1);
        __syncwarp();
        if (lane < warps) of_warps[lane] = lane > 0 ? before : T(0);
        if (lane == 0) before_tile = 0;
        if (lane == 0 && b) {
            tell(b->kind + tile, b->own + tile, 1, all);
            T found = 0;
            for (int t = tile - 1, kind = 0; t >= 0 && kind != 2; --t) {
                while ((kind = atomicAdd(b->kind + t, 0)) == 0) {
                }
                __threadfence();
                found = (kind == 2 ? b->all : b->own)[t] + found;
            }
            tell(b->kind + tile, b->all + tile, 2, found + all);
            before_tile = found;
        }
    }
    __syncthreads();
    for (int r = 0; r < rows; ++r)
        if (first + 32 * r < n) out[first + 32 * r] = before_tile + of_warps[warp] + x[r];
}

template <class T, bool inclusive>
static __global__ void scan_tiles(const T *in, T *out, int n, look_back_board<T> b)
{
    __shared__ int tile;
    if (threadIdx.x == 0 && threadIdx.y == 0) tile = atomicAdd(b.ticket, 1);
    __syncthreads();
    scan_tile<T, inclusive>(in, out, n, tile, &b);
}
template <bool inclusive> static __global__ void scan_one(const int *in, int *out, int n)
{
    scan_tile<int, inclusive>(in, out, n, 0, nullptr);
}

// What the default stream holds comes first, and what comes into it later waits for all four.
template <class T, bool inclusive> static void scan(const T *in, T *out, int n, void *scratch)
{
    if (n == 0) return;
    const int tiles = tiles_for(n);
    const look_back_board<T> board(scratch, n);
    std::array<std::exception_ptr, launches> failed;
    event cleared;
    std::array<stream, launches> streams;
    std::array<event, launches> done;
    check(cudaMemsetAsync(scratch, 0, look_back_board<T>::bytes(n)), "clearing the board");
    check(cudaEventRecord(cleared.is), "recording");
    {
        std::array<std::jthread, launches> hosts;
        for (int h = 0; h < launches; ++h)
            hosts[h] = std::jthread([&, h] {
                try {
                    int blocks = tiles * (h + 1LL) / launches - tiles * (long long)h / launches;
                    check(cudaStreamWaitEvent(streams[h].is, cleared.is), "waiting");
                    if (blocks > 0)
                        scan_tiles<T, inclusive>
                            <<<blocks, dim3(32, warps), 0, streams[h].is>>>(in, out, n, board);
                    check_launch("scan_tiles");
                    check(cudaEventRecord(done[h].is, streams[h].is), "recording");
                } catch (...) {
                    failed[h] = std::current_exception();
                }
            });
    }
    for (int h = 0; h < launches; ++h) {
        if (failed[h]) std::rethrow_exception(failed[h]);
        check(cudaStreamWaitEvent(nullptr, done[h].is), "waiting");
    }
}

void scan_block_inclusive(const int *in, int *out, int n)
{
    scan_one<true><<<1, dim3(32, warps)>>>(in, out, n);
    check_launch("scan_one");
}
void scan_block_exclusive(const int *in, int *out, int n)
{
    scan_one<false><<<1, dim3(32, warps)>>>(in, out, n);
    check_launch("scan_one");
}
size_t scan_inclusive_scratch(int n) { return look_back_board<int>::bytes(n); }
size_t scan_exclusive_scratch(int n) { return look_back_board<int>::bytes(n); }
size_t scan_inclusive_int64_scratch(int n) { return look_back_board<std::int64_t>::bytes(n); }
size_t scan_inclusive_float_scratch(int n) { return look_back_board<float>::bytes(n); }
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
