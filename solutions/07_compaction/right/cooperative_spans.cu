// Right: One cooperative launch per call: each warp of a small fixed grid owns a span of the array,
// counts it, meets all others at grid.sync() and goes over it again; no look-back, no ticket.
#include "../check.hpp"
#include "lab.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <algorithm>

namespace cg = cooperative_groups;

constexpr int threads = 512, warps = threads / 32;
constexpr int max_blocks = 512;

enum class task { compact, unpack, partition };

struct arrays {
    const float *in; // or what is packed
    const unsigned char *keep;
    float *out;
    int *count; // null for unpack
};

template <task what> static __global__ void __launch_bounds__(threads)
    do_all(arrays a, int n, int *counts)
{
    __shared__ int of_warps[warps], before_block, of_all;
    const cg::grid_group grid = cg::this_grid();
    const cg::thread_block block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const int lane = warp.thread_rank(), w = warp.meta_group_rank();
    const int me = blockIdx.x * warps + w, all_warps = gridDim.x * warps;
    // Spans are whole rows of 32, so that they share as few sectors as can be.
    const long long rows = (n + 31) / 32;
    const int begin = rows * me / all_warps * 32,
              end = min(rows * (me + 1) / all_warps * 32, 0LL + n);
    // What decides about element i; nothing is kept beyond the span.
    auto load = [&](int i) -> float {
        if (i >= end) return 0;
        return what == task::unpack ? a.keep[i] : a.in[i];
    };

    int mine = 0;
    for (int i = begin + lane; i < end; i += 32) mine += load(i) > 0;
    mine = cg::reduce(warp, mine, cg::plus<int>());
    if (lane == 0) of_warps[w] = mine;
    block.sync();
    if (w == 0) {
        int sum = cg::reduce(warp, lane < warps ? of_warps[lane] : 0, cg::plus<int>());
        if (lane == 0) counts[blockIdx.x] = sum;
    }
    grid.sync();

    if (w == 0) {
        int before = 0, all = 0;
        for (int b = lane; b < gridDim.x; b += 32) {
            int count = counts[b];
            before += b < blockIdx.x ? count : 0;
            all += count;
        }
        before = cg::reduce(warp, before, cg::plus<int>());
        all = cg::reduce(warp, all, cg::plus<int>());
        if (lane == 0) {
            before_block = before;
            of_all = all;
            if (blockIdx.x == 0 && a.count) *a.count = all;
        }
    }
    block.sync();
    int before = before_block;
    const int all = of_all;
    for (int v = 0; v < w; ++v) before += of_warps[v];

    for (int row = begin; row < end; row += 32) {
        const int i = row + lane;
        const float x = load(i);
        const unsigned votes = warp.ballot(x > 0);
        const int place = before + __popc(votes & ((1u << lane) - 1));
        if (what == task::unpack) {
            if (i < end) a.out[i] = x > 0 ? a.in[place] : 0;
        } else if (x > 0) {
            a.out[place] = x;
        } else if (what == task::partition && i < end) {
            a.out[all + i - place] = x;
        }
        before += __popc(votes);
    }
}

template <task what> static void run(arrays a, int n, void *scratch)
{
    if (n == 0 && a.count) check(cudaMemsetAsync(a.count, 0, sizeof(int)), "clearing the count");
    if (n == 0) return;
    int sms = 0, an_sm = 0;
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "asking for the SMs");
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&an_sm, do_all<what>, threads, 0),
          "asking how many blocks fit");
    const int blocks = std::min({sms * an_sm, max_blocks, (n - 1) / (threads * 16) + 1});
    int *counts = static_cast<int *>(scratch);
    void *arguments[] = {&a, &n, &counts};
    check(cudaLaunchCooperativeKernel(do_all<what>, blocks, threads, arguments), "do_all");
}

size_t compact_scratch(int) { return sizeof(int) * max_blocks; }
size_t unpack_scratch(int) { return sizeof(int) * max_blocks; }
size_t partition_scratch(int) { return sizeof(int) * max_blocks; }

void compact(const float *in, float *out, int *count, int n, void *scratch)
{
    run<task::compact>({in, nullptr, out, count}, n, scratch);
}
void unpack(const float *packed, const unsigned char *keep, float *out, int n, void *scratch)
{
    run<task::unpack>({packed, keep, out, nullptr}, n, scratch);
}
void partition(const float *in, float *out, int *kept_count, int n, void *scratch)
{
    run<task::partition>({in, nullptr, out, kept_count}, n, scratch);
}
