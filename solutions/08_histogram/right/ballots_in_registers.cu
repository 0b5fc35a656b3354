// Right: No atomics while counting bytes: a warp's 32 bytes are turned into eight ballots, and each
// lane holds eight bins in registers; grid-stride by cooperative groups; cuda::atomic_ref of block
// scope for the floats.
#include "../check.hpp"
#include "lab.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

namespace cg = cooperative_groups;

constexpr int threads = 256, warps = threads / 32;
using warp_tile = cg::thread_block_tile<32, cg::thread_block>;

static int blocks_for(size_t elements, size_t a_block)
{
    int sms = 0;
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "asking for the SMs");
    return std::clamp<size_t>(elements / a_block, 1, sms * 8);
}

// 256 bins of a warp: lane l counts the values l, l + 32, ... l + 224.
class register_bins {
public:
    // One value per lane; a lane without one passes `there` = false. All lanes must come.
    __device__ void count(const warp_tile &warp, unsigned value, bool there)
    {
        unsigned mine = warp.ballot(there); // lanes whose low five bits are my number
        for (int bit = 0; bit < 5; ++bit) {
            unsigned votes = warp.ballot(value >> bit & 1);
            mine &= warp.thread_rank() >> bit & 1 ? votes : ~votes;
        }
        const unsigned b5 = warp.ballot(value & 32), b6 = warp.ballot(value & 64),
                       b7 = warp.ballot(value & 128);
        for (int k = 0; k < 8; ++k)
            bins_[k] += __popc(mine & (k & 1 ? b5 : ~b5) & (k & 2 ? b6 : ~b6) & (k & 4 ? b7 : ~b7));
    }
    // To shared memory: each lane's bins are its own, but warps meet.
    __device__ void add_to(const warp_tile &warp, unsigned *shared) const
    {
        for (int k = 0; k < 8; ++k) atomicAdd(shared + k * 32 + warp.thread_rank(), bins_[k]);
    }

private:
    unsigned bins_[8] = {};
};

static __global__ void __launch_bounds__(threads)
    count_bytes(const unsigned char *in, size_t n, unsigned *bins)
{
    __shared__ unsigned counts[256];
    const cg::thread_block block = cg::this_thread_block();
    const warp_tile warp = cg::tiled_partition<32>(block);
    const size_t me = cg::this_grid().thread_rank(), all = cg::this_grid().num_threads();
    counts[block.thread_rank()] = 0;
    block.sync();
    register_bins mine;
    const size_t head = min(n, size_t(-reinterpret_cast<std::uintptr_t>(in) & 15));
    const size_t wide = (n - head) / 16, tail = head + wide * 16;
    // Loops are the same for all lanes of a warp: its first lane decides.
    for (size_t i = me; i - warp.thread_rank() < wide; i += all) {
        const bool there = i < wide;
        const uint4 x = there ? reinterpret_cast<const uint4 *>(in + head)[i] : uint4{};
        for (unsigned word : {x.x, x.y, x.z, x.w})
            for (int shift = 0; shift < 32; shift += 8)
                mine.count(warp, word >> shift & 255, there);
    }
    if (me - warp.thread_rank() == 0) { // the first warp of all: both ends, 15 bytes each at most
        mine.count(warp, me < head ? in[me] : 0, me < head);
        mine.count(warp, tail + me < n ? in[tail + me] : 0, tail + me < n);
    }
    mine.add_to(warp, counts);
    block.sync();
    atomicAdd(bins + block.thread_rank(), counts[block.thread_rank()]);
}
static_assert(threads == 256);

void histogram(const unsigned char *in, size_t n, unsigned *bins)
{
    check(cudaMemsetAsync(bins, 0, 256 * sizeof *bins), "clearing the bins");
    if (n == 0) return;
    count_bytes<<<blocks_for(n, threads * 64), threads>>>(in, n, bins);
    check_launch("count_bytes");
}

static __global__ void __launch_bounds__(threads)
    count_tiles(const unsigned char *image, int width, int height, int tile, unsigned *bins)
{
    __shared__ unsigned counts[256];
    const cg::thread_block block = cg::this_thread_block();
    const warp_tile warp = cg::tiled_partition<32>(block);
    const int across = (width - 1) / tile + 1;
    const int left = blockIdx.x % across * tile, right = min(left + tile, width);
    const int top = blockIdx.x / across * tile, bottom = min(top + tile, height);
    counts[block.thread_rank()] = 0;
    block.sync();
    register_bins mine;
    for (int r = top + warp.meta_group_rank(); r < bottom; r += warps)
        for (int c = left + warp.thread_rank(); c - int(warp.thread_rank()) < right; c += 32)
            mine.count(warp, c < right ? image[r * width + c] : 0, c < right);
    mine.add_to(warp, counts);
    block.sync();
    bins[blockIdx.x * 256 + block.thread_rank()] = counts[block.thread_rank()];
}

void histogram_tiles(const unsigned char *image, int width, int height, int tile, unsigned *bins)
{
    if (width == 0 || height == 0) return;
    const int tiles = ((width - 1) / tile + 1) * ((height - 1) / tile + 1);
    count_tiles<<<tiles, threads>>>(image, width, height, tile, bins);
    check_launch("count_tiles");
}

using block_count = cuda::atomic_ref<unsigned, cuda::thread_scope_block>;
using device_count = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

static __global__ void __launch_bounds__(threads)
    count_range(const float *in, int n, float low, float high, float width, int bin_count,
                unsigned *bins)
{
    __shared__ unsigned counts[2048];
    const cg::thread_block block = cg::this_thread_block();
    for (int b = block.thread_rank(); b < bin_count; b += block.num_threads()) counts[b] = 0;
    block.sync();
    const cg::grid_group grid = cg::this_grid();
    for (long long i = grid.thread_rank(); i < n; i += grid.num_threads()) {
        const float x = in[i];
        if (!(x >= low && x < high)) continue; // NaN, too
        int b = min(int((x - low) / width), bin_count - 1);
        if (x < low + b * width) --b; // the difference was rounded up to the bound
        block_count(counts[b]).fetch_add(1, cuda::memory_order_relaxed);
    }
    block.sync();
    for (int b = block.thread_rank(); b < bin_count; b += block.num_threads())
        if (counts[b] != 0) device_count(bins[b]).fetch_add(counts[b], cuda::memory_order_relaxed);
}

void histogram_range(const float *in, int n, float low, float high, int bin_count, unsigned *bins)
{
    const float width = (high - low) / bin_count;
    check(cudaMemsetAsync(bins, 0, bin_count * sizeof *bins), "clearing the bins");
    if (n == 0) return;
    count_range<<<blocks_for(n, threads * 32), threads>>>(in, n, low, high, width, bin_count, bins);
    check_launch("count_range");
}

// One warp per block: nobody but the lanes of a warp ever meets.
static __global__ void __launch_bounds__(32) add_by_warps(const int *in, long long *out, int n)
{
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    long long mine[2] = {};
    for (size_t i = size_t(blockIdx.x) * 64 + threadIdx.x; i < n; i += size_t(gridDim.x) * 64) {
        mine[0] += in[i];
        if (i + 32 < n) mine[1] += in[i + 32];
    }
    const long long sum = cg::reduce(warp, mine[0] + mine[1], cg::plus<long long>());
    if (warp.thread_rank() == 0)
        cuda::atomic_ref<long long, cuda::thread_scope_device>(*out).fetch_add(
            sum, cuda::memory_order_relaxed);
}

void sum(const int *in, long long *out, int n)
{
    check(cudaMemsetAsync(out, 0, sizeof *out), "clearing the sum");
    if (n > 0) add_by_warps<<<blocks_for(n, 64), 32>>>(in, out, n);
    check_launch("add_by_warps");
}
