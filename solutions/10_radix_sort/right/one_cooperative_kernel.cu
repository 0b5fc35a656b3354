// Right: all four passes are one cooperative launch with a fixed grid and grid.sync() between them;
// peers are found by atomicOr of lane masks in shared memory; floats' bits are flipped on the way.
#include "../check.hpp"
#include "lab.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
#include <cuda_runtime.h>

#include <algorithm>

namespace cg = cooperative_groups;

constexpr int threads = 256, rows = 16, tile = threads * rows, radix = 256, passes = 4;

struct job {
    unsigned *keys[2], *values[2]; // there and back
    unsigned *totals, *told;       // [pass][digit], [pass][tile][digit]
    int n, tiles;
    bool floats;
};

__device__ static unsigned turned(const job &j, unsigned key)
{
    if (!j.floats) return key;
    return key & 0x80000000u ? ~key : key ^ 0x80000000u;
}

__device__ static void clear(const job &j, cg::grid_group grid)
{
    size_t words = size_t(passes) * radix * (j.tiles + 1);
    for (size_t i = grid.thread_rank(); i < words; i += grid.size()) j.totals[i] = 0;
}

__device__ static void count_digits(const job &j, cg::grid_group grid, unsigned (*bins)[radix])
{
    for (int p = 0; p < passes; ++p) bins[p][threadIdx.x] = 0;
    __syncthreads();
    for (size_t i = grid.thread_rank(); i < size_t(j.n); i += grid.size()) {
        unsigned key = turned(j, j.keys[0][i]);
        for (int p = 0; p < passes; ++p) atomicAdd(&bins[p][(key >> (8 * p)) % radix], 1);
    }
    __syncthreads();
    for (int p = 0; p < passes; ++p)
        atomicAdd(&j.totals[p * radix + threadIdx.x], bins[p][threadIdx.x]);
}

// One tile of one pass. Blocks go through their tiles in rising order and are all resident, so that
// whoever looks back waits for somebody who is on the way.
__device__ static void sweep_tile(const job &j, int pass, int which, unsigned start_of_digit)
{
    __shared__ unsigned counts[threads / 32][radix], masks[threads / 32][radix], first[radix];
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    const int w = warp.meta_group_rank(), lane = warp.thread_rank(), d = threadIdx.x;
    const unsigned *in = j.keys[pass % 2];
    for (int k = 0; k < int(threads / 32); ++k) counts[k][d] = masks[k][d] = 0;
    block.sync();

    unsigned keys[rows];
    unsigned short ranks[rows];
    auto index = [&](int k) { return size_t(which) * tile + (w * rows + k) * 32 + lane; };
#pragma unroll
    for (int k = 0; k < rows; ++k) {
        const bool valid = index(k) < size_t(j.n);
        keys[k] = valid ? in[index(k)] : 0;
        const int digit = valid ? (turned(j, keys[k]) >> (8 * pass)) % radix : radix - 1;
        atomicOr(&masks[w][digit], 1u << lane);
        warp.sync();
        const unsigned peers = masks[w][digit], had = counts[w][digit];
        warp.sync();
        if (lane == 31 - __clz(peers)) { // the highest, this time
            counts[w][digit] = had + __popc(peers);
            masks[w][digit] = 0;
        }
        warp.sync();
        ranks[k] = had + __popc(peers & ~(~0u << lane));
    }
    block.sync();

    unsigned total = 0;
    for (int k = 0; k < int(threads / 32); ++k) {
        const unsigned c = counts[k][d];
        counts[k][d] = total;
        total += c;
    }
    // Even words: that much in the tile itself; odd ones: up to and with it. 0: nothing is known.
    volatile unsigned *told = j.told + (size_t(pass) * j.tiles + which) * radix + d;
    unsigned before = 0;
    if (which > 0) {
        *told = (total + 1) << 1;
        for (int back = 1; back <= which; ++back) {
            unsigned x;
            while ((x = *(told - size_t(back) * radix)) == 0) __nanosleep(20);
            before += (x >> 1) - 1;
            if (x & 1) break;
        }
    }
    *told = (before + total + 1) << 1 | 1;
    first[d] = start_of_digit + before;
    block.sync();

    unsigned *out = j.keys[1 - pass % 2], *values_out = j.values[1 - pass % 2];
    const unsigned *values_in = j.values[pass % 2];
#pragma unroll
    for (int k = 0; k < rows; ++k) {
        if (index(k) >= size_t(j.n)) break;
        const int digit = (turned(j, keys[k]) >> (8 * pass)) % radix;
        const unsigned to = first[digit] + counts[w][digit] + ranks[k];
        out[to] = keys[k];
        if (values_in) values_out[to] = values_in[index(k)];
    }
    block.sync();
}

__global__ static void __launch_bounds__(threads) sort_all(job j)
{
    __shared__ unsigned bins[passes][radix], warp_sums[threads / 32];
    auto grid = cg::this_grid();
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    clear(j, grid);
    grid.sync();
    count_digits(j, grid, bins);
    for (int p = 0; p < passes; ++p) {
        grid.sync();
        const unsigned total = j.totals[p * radix + threadIdx.x];
        unsigned start = cg::exclusive_scan(warp, total);
        if (warp.thread_rank() == 31) warp_sums[warp.meta_group_rank()] = start + total;
        __syncthreads();
        for (unsigned k = 0; k < warp.meta_group_rank(); ++k) start += warp_sums[k];
        for (int t = blockIdx.x; t < j.tiles; t += gridDim.x) sweep_tile(j, p, t, start);
    }
}

// A bitonic network over the lanes.
__global__ static void sort_runs(unsigned *keys, int n)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int lane = warp.thread_rank();
    for (long long run = 32ll * (blockIdx.x * (blockDim.x / 32) + warp.meta_group_rank()); run < n;
         run += 1ll * gridDim.x * blockDim.x) {
        const bool valid = run + lane < n;
        unsigned key = valid ? keys[run + lane] : 0xffffffff;
        for (int size = 2; size <= 32; size *= 2)
            for (int d = size / 2; d > 0; d /= 2) {
                const unsigned other = warp.shfl_xor(key, d);
                const bool up = (lane & size) == 0 || size == 32, lower = (lane & d) == 0;
                key = lower == up ? min(key, other) : max(key, other);
            }
        if (valid) keys[run + lane] = key;
    }
}

static int tiles_for(int n) { return (n + tile - 1) / tile; }
static size_t table_words(int n) { return size_t(passes) * radix * (tiles_for(n) + 1); }

static void sort(unsigned *keys, unsigned *values, int n, void *scratch, bool floats)
{
    if (n == 0) return;
    static int resident = 0; // blocks that fit on the device at once
    if (resident == 0) {
        int device = 0, sms = 0, each = 0;
        check(cudaGetDevice(&device), "cudaGetDevice");
        check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device), "SMs");
        check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, sort_all, threads, 0),
              "occupancy");
        resident = sms * each;
    }
    auto *table = static_cast<unsigned *>(scratch), *other = table + table_words(n);
    job j{{keys, other},
          {values, values ? other + n : nullptr},
          table,
          table + passes * radix,
          n,
          tiles_for(n),
          floats};
    void *args[] = {&j};
    check(cudaLaunchCooperativeKernel(sort_all, std::min(resident, j.tiles), threads, args),
          "sort_all");
}

void sort_warps(unsigned *keys, int n)
{
    if (n == 0) return;
    sort_runs<<<std::min((n - 1) / 128 + 1, 4096), 128>>>(keys, n);
    check_launch("sort_runs");
}

size_t radix_sort_scratch(int n) { return 4 * (table_words(n) + n); }
void radix_sort(unsigned *keys, int n, void *scratch) { sort(keys, nullptr, n, scratch, false); }

size_t radix_sort_pairs_scratch(int n) { return 4 * (table_words(n) + 2 * size_t(n)); }
void radix_sort_pairs(unsigned *keys, unsigned *values, int n, void *scratch)
{
    sort(keys, values, n, scratch, false);
}

size_t radix_sort_floats_scratch(int n) { return 4 * (table_words(n) + n); }
void radix_sort_floats(float *keys, int n, void *scratch)
{
    sort(reinterpret_cast<unsigned *>(keys), nullptr, n, scratch, true);
}
