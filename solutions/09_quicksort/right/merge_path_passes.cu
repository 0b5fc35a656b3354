// Right: no pivots: blocks sort tiles in shared memory, then merge passes double the sorted runs,
// each output tile found by merge path (Green, McColl and Bader 2012). The passes follow each other
// in the block's own stream; a driver at the tail goes on where a launch was refused.
#include "../check.hpp"
#include "lab.hpp"

#include <cooperative_groups.h>
#include <cuda/std/span>
#include <cuda_runtime.h>

#include <concepts>
#include <cstdint>

namespace cg = cooperative_groups;

namespace {

constexpr unsigned threads = 256, each = 9, tile = threads * each; // odd: few bank conflicts
using keys_in = cuda::std::span<const unsigned>;

// The passes of a call: pass 0 sorts tiles, pass p merges runs of tile << (p - 1) keys.
struct job {
    unsigned *data, *other;
    unsigned *done; // in device memory: how many passes have been launched or made
    unsigned n;

    __host__ __device__ unsigned tiles() const { return (n - 1) / tile + 1; }
    __host__ __device__ unsigned passes() const
    {
        unsigned p = 1;
        while (std::uint64_t{tile} << (p - 1) < n) ++p;
        return p;
    }
    // The last pass writes to data.
    __device__ unsigned *output(unsigned pass) const
    {
        return (passes() - pass) % 2 == 1 ? data : other;
    }
    __device__ const unsigned *input(unsigned pass) const
    {
        return pass == 0 ? data : output(pass - 1);
    }
};

// How many of the first `count` keys of the merged sequence come from a. Of equal keys, those of a
// come first.
__device__ unsigned merge_path(keys_in a, keys_in b, unsigned count)
{
    unsigned low = count > b.size() ? count - unsigned(b.size()) : 0;
    unsigned high = min(count, unsigned(a.size()));
    while (low < high) {
        const unsigned middle = (low + high) / 2;
        if (a[middle] <= b[count - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// The keys of the merged sequence from `count` on, as many as `out` takes; the rest is padding.
__device__ void merge_serially(keys_in a, keys_in b, unsigned count, unsigned (&out)[each])
{
    unsigned i = merge_path(a, b, count), j = count - i;
#pragma unroll
    for (unsigned &key : out) {
        const unsigned x = i < a.size() ? a[i] : ~0u, y = j < b.size() ? b[j] : ~0u;
        const bool first = j >= b.size() || (i < a.size() && x <= y);
        key = first ? x : y;
        (first ? i : j) += 1;
    }
}

__device__ void sort_registers(unsigned (&keys)[each])
{
#pragma unroll
    for (unsigned round = 0; round < each; ++round)
#pragma unroll
        for (unsigned k = round % 2; k + 1 < each; k += 2) {
            const unsigned smaller = min(keys[k], keys[k + 1]);
            keys[k + 1] = max(keys[k], keys[k + 1]);
            keys[k] = smaller;
        }
}

__device__ void sort_tile(const job &j, unsigned which, cg::thread_block block, unsigned *keys)
{
    const unsigned t = block.thread_rank(), first = which * tile, count = min(tile, j.n - first);
    for (unsigned i = t; i < tile; i += threads) keys[i] = i < count ? j.data[first + i] : ~0u;
    block.sync();
    unsigned mine[each];
#pragma unroll
    for (unsigned k = 0; k < each; ++k) mine[k] = keys[t * each + k];
    sort_registers(mine);
    for (unsigned run = each; run < tile; run *= 2) {
        block.sync();
#pragma unroll
        for (unsigned k = 0; k < each; ++k) keys[t * each + k] = mine[k];
        block.sync();
        const unsigned pair = t * each / (2 * run) * (2 * run);
        merge_serially({keys + pair, run}, {keys + pair + run, run}, t * each - pair, mine);
    }
    block.sync();
#pragma unroll
    for (unsigned k = 0; k < each; ++k) keys[t * each + k] = mine[k];
    block.sync();
    for (unsigned i = t; i < count; i += threads) j.output(0)[first + i] = keys[i];
    block.sync();
}

__device__ void merge_tile(const job &j, unsigned pass, unsigned which, cg::thread_block block,
                           unsigned *keys)
{
    __shared__ unsigned ends[2]; // how many keys of the first run lie before the tile and its end
    const unsigned t = block.thread_rank(), run = tile << (pass - 1), first = which * tile;
    const unsigned pair = first / run / 2 * 2 * run, count = min(tile, j.n - first);
    const unsigned in_a = min(run, j.n - pair), in_b = min(run, j.n - pair - in_a);
    const unsigned *from = j.input(pass) + pair;
    if (t % 32 == 0 && t < 64)
        ends[t / 32] =
            merge_path({from, in_a}, {from + in_a, in_b}, first - pair + (t == 0 ? 0 : count));
    block.sync();
    const unsigned a = ends[0], length = ends[1] - a, b = first - pair - a;
    for (unsigned i = t; i < count; i += threads)
        keys[i] = i < length ? from[a + i] : from[in_a + b + i - length];
    block.sync();
    unsigned mine[each];
    merge_serially({keys, length}, {keys + length, count - length}, min(t * each, count), mine);
    block.sync();
#pragma unroll
    for (unsigned k = 0; k < each; ++k) keys[t * each + k] = mine[k];
    block.sync();
    for (unsigned i = t; i < count; i += threads) j.output(pass)[first + i] = keys[i];
    block.sync();
}

__device__ void do_tile(const job &j, unsigned pass, unsigned which)
{
    __shared__ unsigned keys[tile];
    const cg::thread_block block = cg::this_thread_block();
    if (pass == 0)
        sort_tile(j, which, block, keys);
    else
        merge_tile(j, pass, which, block, keys);
}

__global__ void __launch_bounds__(threads) do_pass(job j, unsigned pass)
{
    do_tile(j, pass, blockIdx.x);
}

// Launches, and says whether that was taken.
template <std::invocable Launch> __device__ bool taken(Launch launch)
{
    launch();
    return cudaGetLastError() == cudaSuccess;
}

// One block sees to all passes from j.done on: the driver that comes after it is launched first, so
// that somebody goes on when a pass is refused. If even the driver is refused, nobody will come:
// the block makes a pass itself and tries again.
__global__ void __launch_bounds__(threads) drive(job j, bool begins)
{
    __shared__ bool later;
    __shared__ unsigned pass;
    const cg::thread_block block = cg::this_thread_block();
    if (block.thread_rank() == 0) pass = begins ? 0 : *j.done;
    block.sync();
    while (pass < j.passes()) {
        const unsigned began = pass;
        block.sync();
        if (block.thread_rank() == 0) {
            later = taken([&] { drive<<<1, threads, 0, cudaStreamTailLaunch>>>(j, false); });
            while (later && pass < j.passes() &&
                   taken([&] { do_pass<<<j.tiles(), threads>>>(j, pass); }))
                ++pass;
        }
        block.sync();
        if (pass == began) {
            for (unsigned which = 0; which < j.tiles(); ++which) do_tile(j, pass, which);
            if (block.thread_rank() == 0) ++pass;
        }
        if (block.thread_rank() == 0) *j.done = pass;
        block.sync();
        if (later) return;
    }
}

constexpr size_t head = 256; // bytes of scratch before the keys: the count of passes

} // namespace

size_t quicksort_scratch(int n) { return head + sizeof(unsigned) * n; }

void quicksort(unsigned *data, int n, void *scratch)
{
    if (n < 2) return;
    auto *done = static_cast<unsigned *>(scratch);
    drive<<<1, threads>>>({data, done + head / sizeof(unsigned), done, unsigned(n)}, true);
    check_launch("drive");
}
