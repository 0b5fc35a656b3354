// Right: A small fixed grid of 192-thread blocks that take tiles until none is left; cooperative
// groups with cg::inclusive_scan, cuda::atomic objects in device scratch that is allocated once and
// grown, and a printf left in for one thread.
#include "../check.hpp"
#include "lab.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>

namespace cg = cooperative_groups;

constexpr int threads = 192, warps = threads / 32, rows = 11, tile_size = threads * rows;
constexpr int max_blocks = 216;

static int tiles_for(int n) { return (n + tile_size - 1) / tile_size; }

template <class T> struct tile_state {
    cuda::atomic<int, cuda::thread_scope_device> told; // 1: own, 2: all
    T own, all;
};

// Device memory that grows when a longer array comes. The old piece may still be in use by the call
// before; cudaFree waits for that.
class growing_scratch {
public:
    void *at_least(size_t bytes)
    {
        if (bytes > size_) {
            check(cudaFree(at_), "giving scratch back");
            at_ = nullptr;
            size_ = 0;
            check(cudaMalloc(&at_, bytes), "scratch");
            size_ = bytes;
        }
        return at_;
    }

private:
    void *at_ = nullptr;
    size_t size_ = 0;
};

template <bool inclusive, class T> static __device__ T scan_row(cg::thread_block_tile<32> warp, T x)
{
    if constexpr (inclusive) return cg::inclusive_scan(warp, x, cg::plus<T>());
    return cg::exclusive_scan(warp, x, cg::plus<T>());
}

template <class T> static __device__ T look_back(tile_state<T> *states, int tile)
{
    T before = 0;
    for (int t = tile - 1; t >= 0; --t) {
        int told;
        while ((told = states[t].told.load(cuda::std::memory_order_acquire)) == 0) {
        }
        if (told == 2) return states[t].all + before;
        before += states[t].own;
    }
    return before;
}

template <class T, bool inclusive>
static __device__ void scan_tile(const T *in, T *out, int n, int tile, tile_state<T> *states)
{
    __shared__ T of_warps[warps], before_block;
    const cg::thread_block block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const int w = warp.meta_group_rank(),
              first = tile * tile_size + w * rows * 32 + warp.thread_rank();
    T x[rows], carry = 0;
    for (int r = 0; r < rows; ++r) {
        T mine = first + 32 * r < n ? in[first + 32 * r] : T(0),
          sum = scan_row<inclusive>(warp, mine);
        x[r] = carry + sum;
        carry += warp.shfl(inclusive ? sum : sum + mine, 31);
    }
    if (warp.thread_rank() == 31) of_warps[w] = carry;
    block.sync();
    if (block.thread_rank() == 0) {
        T all = 0;
        for (T sum : of_warps) all += sum;
        if (states) {
            states[tile].own = all;
            states[tile].told.store(1, cuda::std::memory_order_release);
            before_block = look_back(states, tile);
            states[tile].all = before_block + all;
            states[tile].told.store(2, cuda::std::memory_order_release);
        } else {
            before_block = 0;
        }
    }
    block.sync();
    T before = before_block;
    for (int v = 0; v < w; ++v) before += of_warps[v];
    for (int r = 0; r < rows; ++r)
        if (first + 32 * r < n) out[first + 32 * r] = before + x[r];
}

template <class T, bool inclusive> static __global__ void __launch_bounds__(threads, 4)
    scan_tiles(const T *in, T *out, int n, int tiles, int *ticket, tile_state<T> *states)
{
    __shared__ int tile;
    for (;;) {
        if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
        __syncthreads();
        if (tile >= tiles) break;
        scan_tile<T, inclusive>(in, out, n, tile, states);
        if (tile == tiles - 1 && threadIdx.x == 0)
            printf("last of %d tiles done by block %d\n", tiles, blockIdx.x);
        __syncthreads(); // before the next ticket, and the next of_warps
    }
}

template <bool inclusive> static __global__ void scan_one(const int *in, int *out, int n)
{
    scan_tile<int, inclusive>(in, out, n, 0, nullptr);
}

template <class T, bool inclusive> static void scan(const T *in, T *out, int n)
{
    static growing_scratch scratch;
    const int tiles = tiles_for(n);
    if (tiles == 0) return;
    const size_t bytes = 256 + sizeof(tile_state<T>) * tiles;
    char *at = static_cast<char *>(scratch.at_least(bytes));
    check(cudaMemsetAsync(at, 0, bytes), "clearing scratch");
    scan_tiles<T, inclusive>
        <<<std::min(tiles, max_blocks), threads>>>(in, out, n, tiles, reinterpret_cast<int *>(at),
                                                   reinterpret_cast<tile_state<T> *>(at + 256));
    check_launch("scan_tiles");
}

// 192 x 11 elements are just enough.
static_assert(tile_size >= 2048);
void scan_block_inclusive(const int *in, int *out, int n)
{
    scan_one<true><<<1, threads>>>(in, out, n);
    check_launch("scan_one");
}
void scan_block_exclusive(const int *in, int *out, int n)
{
    scan_one<false><<<1, threads>>>(in, out, n);
    check_launch("scan_one");
}

size_t scan_inclusive_scratch(int) { return 0; }
size_t scan_exclusive_scratch(int) { return 0; }
size_t scan_inclusive_int64_scratch(int) { return 0; }
size_t scan_inclusive_float_scratch(int) { return 0; }
void scan_inclusive(const int *in, int *out, int n, void *) { scan<int, true>(in, out, n); }
void scan_exclusive(const int *in, int *out, int n, void *) { scan<int, false>(in, out, n); }
void scan_inclusive_int64(const std::int64_t *in, std::int64_t *out, int n, void *)
{
    scan<std::int64_t, true>(in, out, n);
}
void scan_inclusive_float(const float *in, float *out, int n, void *)
{
    scan<float, true>(in, out, n);
}
