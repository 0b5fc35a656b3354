// Right: One cooperative launch with a small fixed grid; in each round every block scans a tile in
// registers, all meet at grid.sync(), and everyone adds up the sums of the blocks before it.
#include "../check.hpp"
#include "lab.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <algorithm>

namespace cg = cooperative_groups;

constexpr int threads = 256, warps = threads / 32, rows = 16, tile_size = threads * rows;
constexpr int max_blocks = 1024; // that any grid may have: sums of two rounds lie in scratch

struct place {
    int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
};

// Scans a block's tile in registers; each warp's rows are neighbours. Returns the sum of all.
template <class T> static __device__ T scan_in_block(T (&x)[rows], bool inclusive)
{
    __shared__ T of_warps[warps];
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const place me;
    T carry = 0;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        T sum = x[r];
        for (int d = 1; d < 32; d *= 2) {
            T left = warp.shfl_up(sum, d);
            if (me.lane >= d) sum += left;
        }
        T left = warp.shfl_up(sum, 1);
        x[r] = carry + (inclusive ? sum : me.lane > 0 ? left : T(0));
        carry += warp.shfl(sum, 31);
    }
    __syncthreads(); // the round before has read of_warps
    if (me.lane == 0) of_warps[me.warp] = carry;
    __syncthreads();
    T before = 0, all = 0;
    for (int w = 0; w < warps; ++w) {
        if (w == me.warp) before = all;
        all += of_warps[w];
    }
    for (int r = 0; r < rows; ++r) x[r] += before;
    return all;
}

// The sum of `sums` up to `count`, to all threads; every warp adds up for itself.
template <class T> static __device__ T add_up(const T *sums, int count)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    T sum = 0;
    for (int i = warp.thread_rank(); i < count; i += 32) sum += sums[i];
    return cg::reduce(warp, sum, cg::plus<T>());
}

template <class T, bool inclusive> static __global__ void __launch_bounds__(threads)
    scan_rounds(const T *in, T *out, int n, T *sums)
{
    cg::grid_group grid = cg::this_grid();
    const place me;
    const long long a_round = 1LL * gridDim.x * tile_size;
    T before = 0; // this round
    int parity = 0;
    for (long long start = 0; start < n; start += a_round, parity ^= 1) {
        long long first = start + blockIdx.x * tile_size + me.warp * 32 * rows + me.lane;
        T x[rows];
        for (int r = 0; r < rows; ++r) x[r] = first + 32 * r < n ? in[first + 32 * r] : T(0);
        T sum = scan_in_block(x, inclusive);
        // Two sets by turns: who is late in this round still reads while others write the next.
        T *board = sums + parity * max_blocks;
        if (me.thread == 0) board[blockIdx.x] = sum;
        grid.sync();
        T mine = before + add_up(board, blockIdx.x);
        for (int r = 0; r < rows; ++r)
            if (first + 32 * r < n) out[first + 32 * r] = mine + x[r];
        if (start + a_round < n) before += add_up(board, gridDim.x);
    }
}

template <class T, bool inclusive> static void scan(const T *in, T *out, int n, void *scratch)
{
    if (n == 0) return;
    auto kernel = scan_rounds<T, inclusive>;
    int sms = 0, an_sm = 0;
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "asking for the SMs");
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&an_sm, kernel, threads, 0), "occupancy");
    int blocks = std::min({sms * an_sm, max_blocks, (n - 1) / tile_size + 1});
    T *sums = static_cast<T *>(scratch);
    void *arguments[] = {&in, &out, &n, &sums};
    check(cudaLaunchCooperativeKernel(kernel, blocks, threads, arguments), "scan_rounds");
}

// For one block the grid is itself, and half a tile is enough.
template <bool inclusive> static __global__ void scan_alone(const int *in, int *out, int n)
{
    const place me;
    const int first = me.warp * 32 * rows + me.lane;
    int x[rows];
    for (int r = 0; r < rows; ++r) x[r] = first + 32 * r < n ? in[first + 32 * r] : 0;
    scan_in_block(x, inclusive);
    for (int r = 0; r < rows; ++r)
        if (first + 32 * r < n) out[first + 32 * r] = x[r];
}

void scan_block_inclusive(const int *in, int *out, int n)
{
    scan_alone<true><<<1, threads>>>(in, out, n);
    check_launch("scan_alone");
}
void scan_block_exclusive(const int *in, int *out, int n)
{
    scan_alone<false><<<1, threads>>>(in, out, n);
    check_launch("scan_alone");
}

size_t scan_inclusive_scratch(int) { return sizeof(int) * 2 * max_blocks; }
size_t scan_exclusive_scratch(int) { return sizeof(int) * 2 * max_blocks; }
size_t scan_inclusive_int64_scratch(int) { return sizeof(std::int64_t) * 2 * max_blocks; }
size_t scan_inclusive_float_scratch(int) { return sizeof(float) * 2 * max_blocks; }
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
