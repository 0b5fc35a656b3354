// Right: cg::binary_partition groups the lanes that keep, whose ranks are their places; tile sums
// by cg::reduce; each call is captured into a graph; counts are published as complements through
// cuda::std::atomic_ref; a printf is left in.
#include "../check.hpp"
#include "lab.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/std/atomic>
#include <cuda_runtime.h>

#include <cstdio>

namespace cg = cooperative_groups;

constexpr int threads = 416, warps = threads / 32, rows = 10, tile_size = threads * rows;

static int tiles_for(int n) { return (n + tile_size - 1) / tile_size; }

// cuda::std::atomic_ref is for the whole system, which is more than we need, and right.
using shared_int = cuda::std::atomic_ref<int>;

struct look_back {
    int *ticket, *own, *upto; // counts are stored as their complement, so that 0 says "not yet"

    __device__ int before(int tile) const
    {
        int sum = 0;
        for (int t = tile - 1; t >= 0; --t) {
            int own_count = 0, all = 0;
            while (all == 0 && own_count == 0) {
                all = shared_int(upto[t]).load(cuda::std::memory_order_relaxed);
                own_count = shared_int(own[t]).load(cuda::std::memory_order_relaxed);
            }
            if (all != 0) return sum + ~all;
            sum += ~own_count;
        }
        return sum;
    }
    __device__ void tell(int *where, int count) const
    {
        shared_int(*where).store(~count, cuda::std::memory_order_relaxed);
    }
};

struct arrays {
    const float *in;
    const unsigned char *keep; // for unpack, else null
    float *out;
    int *count;
};

enum kind { packs, unpacks, parts };

template <kind what> static __global__ void place(arrays a, int n, look_back board)
{
    __shared__ int tile, of_warps[warps], before_tile;
    const auto block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    if (block.thread_rank() == 0) tile = atomicAdd(board.ticket, 1);
    block.sync();
    const int first = tile * tile_size + warp.meta_group_rank() * rows * 32 + warp.thread_rank();
    float x[rows]; // or the mark
    int mine = 0;
    for (int r = 0; r < rows; ++r) {
        const int i = first + 32 * r;
        x[r] = i >= n ? 0 : what == unpacks ? a.keep[i] : a.in[i];
        mine += x[r] > 0;
    }
    mine = cg::reduce(warp, mine, cg::plus<int>());
    if (warp.thread_rank() == 0) of_warps[warp.meta_group_rank()] = mine;
    block.sync();
    if (block.thread_rank() == 0) {
        int all = 0;
        for (int count : of_warps) all += count;
        board.tell(board.own + tile, all);
        before_tile = board.before(tile);
        board.tell(board.upto + tile, before_tile + all);
        if (tile == gridDim.x - 1) {
            if (what == packs) *a.count = before_tile + all;
            printf("%d of %d elements are kept\n", before_tile + all, n);
        }
    }
    block.sync();
    int before = before_tile;
    for (int w = 0; w < warp.meta_group_rank(); ++w) before += of_warps[w];
    for (int r = 0; r < rows; ++r) {
        const int i = first + 32 * r;
        const bool keep = x[r] > 0;
        const auto alike = cg::binary_partition(warp, keep); // those that keep, or the others
        const int kept = keep ? alike.num_threads() : 32 - alike.num_threads();
        const int rank = alike.thread_rank();
        if (i < n) {
            if (what == unpacks)
                a.out[i] = keep ? a.in[before + rank] : 0;
            else if (keep)
                a.out[before + rank] = x[r];
            else if (what == parts)
                a.out[*a.count + (i - warp.thread_rank() - before) + rank] = x[r];
        }
        before += kept;
    }
}

static __global__ void count_positive(const float *in, int n, int *count)
{
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int mine = 0;
    for (int i = blockIdx.x * tile_size + threadIdx.x, r = 0; r < rows && i < n; ++r, i += threads)
        mine += in[i] > 0;
    mine = cg::reduce(warp, mine, cg::plus<int>());
    if (warp.thread_rank() == 0) atomicAdd(count, mine);
}

static size_t bytes_for(int n) { return sizeof(int) * (1 + 2 * tiles_for(n)); }

template <kind what> static void run(arrays a, int n, void *scratch)
{
    const int tiles = tiles_for(n);
    int *words = static_cast<int *>(scratch);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t work;
    check(cudaStreamCreate(&stream), "a stream");
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "capture");
    if (a.count) check(cudaMemsetAsync(a.count, 0, sizeof(int), stream), "clearing the count");
    if (tiles > 0) {
        check(cudaMemsetAsync(words, 0, bytes_for(n), stream), "clearing the board");
        if (what == parts) count_positive<<<tiles, threads, 0, stream>>>(a.in, n, a.count);
        place<what><<<tiles, threads, 0, stream>>>(a, n, {words, words + 1, words + 1 + tiles});
    }
    check(cudaStreamEndCapture(stream, &graph), "end of capture");
    check(cudaGraphInstantiate(&work, graph, 0), "instantiating");
    check(cudaGraphDestroy(graph), "graph");
    // A blocking stream: it waits for the default stream, and that for it.
    check(cudaGraphLaunch(work, stream), "launching");
    check(cudaGraphExecDestroy(work), "graph"); // which waits with that until the work is done
    check(cudaStreamDestroy(stream), "stream");
}

size_t compact_scratch(int n) { return bytes_for(n); }
size_t unpack_scratch(int n) { return bytes_for(n); }
size_t partition_scratch(int n) { return bytes_for(n); }
void compact(const float *in, float *out, int *count, int n, void *scratch)
{
    run<packs>({in, nullptr, out, count}, n, scratch);
}
void unpack(const float *packed, const unsigned char *keep, float *out, int n, void *scratch)
{
    run<unpacks>({packed, keep, out, nullptr}, n, scratch);
}
void partition(const float *in, float *out, int *kept_count, int n, void *scratch)
{
    run<parts>({in, nullptr, out, kept_count}, n, scratch);
}
