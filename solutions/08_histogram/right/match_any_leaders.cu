// Right: Lanes with equal values find each other by __match_any_sync, and one of them adds for all,
// to one copy per warp; every kernel is a functor's, chosen by C++20 concepts, with std::span
// parameters on the host side.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>

constexpr int threads = 256, warps = threads / 32;

static int blocks_for(size_t work)
{
    int sms = 0;
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "asking for the SMs");
    return std::clamp<size_t>(work / threads, 1, 8 * sms);
}

// Adds 1 to counts[bin] for every lane whose bin is not negative. All lanes of the warp must come.
static __device__ void add_together(unsigned *counts, int bin)
{
    const unsigned same = __match_any_sync(~0u, bin);
    const bool leader = __ffs(same) - 1 == threadIdx.x % 32;
    // No atomic: the copy is the warp's own, and leaders have different bins.
    if (leader && bin >= 0) counts[bin] += __popc(same);
    __syncwarp();
}

template <class F>
concept bytes_source = requires(F f, size_t i)
{
    {
        f.size()
        } -> std::convertible_to<size_t>;
    {
        f.load(i)
        } -> std::same_as<uint4>;
};

struct aligned_bytes {
    const uint4 *at;
    size_t count;
    __device__ size_t size() const { return count; }
    __device__ uint4 load(size_t i) const { return __ldcs(at + i); } // read once only
};

// `ends`: bytes before and behind the aligned ones, at most 15 each.
template <bytes_source S> static __global__ void __launch_bounds__(threads)
    count_bytes(S source, const unsigned char *head, int head_size, const unsigned char *tail,
                int tail_size, unsigned *bins)
{
    __shared__ unsigned counts[warps][256];
    for (int i = threadIdx.x; i < warps * 256; i += threads) counts[0][i] = 0;
    __syncthreads();
    const int lane = threadIdx.x % 32;
    unsigned *mine = counts[threadIdx.x / 32];
    const size_t step = size_t(gridDim.x) * threads;
    for (size_t row = size_t(blockIdx.x) * threads + threadIdx.x - lane; row < source.size();
         row += step) {
        const bool there = row + lane < source.size();
        const uint4 x = there ? source.load(row + lane) : uint4{};
        for (unsigned word : {x.x, x.y, x.z, x.w})
            for (int k = 0; k < 4; ++k) {
                const int value = __byte_perm(word, 0, 0x4440 + k);
                add_together(mine, there ? value : -1);
            }
    }
    if (blockIdx.x == 0 && threadIdx.x < 32) {
        add_together(mine, lane < head_size ? head[lane] : -1);
        add_together(mine, lane < tail_size ? tail[lane] : -1);
    }
    __syncthreads();
    unsigned sum = 0;
    for (int w = 0; w < warps; ++w) sum += counts[w][threadIdx.x];
    if (sum > 0) atomicAdd(bins + threadIdx.x, sum);
}

static void clear(std::span<unsigned> bins)
{
    check(cudaMemsetAsync(bins.data(), 0, bins.size_bytes()), "clearing the bins");
}

static void count(std::span<const unsigned char> in, std::span<unsigned, 256> bins)
{
    clear(bins);
    if (in.empty()) return;
    const size_t misaligned = reinterpret_cast<std::uintptr_t>(in.data()) % 16;
    const auto head = in.first(std::min(in.size(), (16 - misaligned) % 16));
    const auto rest = in.subspan(head.size());
    const auto tail = rest.last(rest.size() % 16);
    const aligned_bytes body{reinterpret_cast<const uint4 *>(rest.data()), rest.size() / 16};
    count_bytes<<<blocks_for(body.count / 4), threads>>>(body, head.data(), head.size(),
                                                         tail.data(), tail.size(), bins.data());
    check_launch("count_bytes");
}

void histogram(const unsigned char *in, size_t n, unsigned *bins)
{
    count({in, n}, std::span<unsigned, 256>(bins, 256));
}

static __global__ void __launch_bounds__(threads)
    count_tiles(const unsigned char *image, int width, int height, int tile, int across,
                unsigned *bins)
{
    __shared__ unsigned counts[warps][256];
    for (int w = 0; w < warps; ++w) counts[w][threadIdx.x] = 0;
    __syncthreads();
    const int left = blockIdx.x % across * tile, cols = min(tile, width - left);
    const int top = blockIdx.x / across * tile, rows = min(tile, height - top);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    // Rows of 32 of all pixels of the tile: a tile may be narrow.
    for (int row = warp * 32; row < rows * cols; row += threads) {
        const int i = row + lane;
        const bool there = i < rows * cols;
        add_together(counts[warp], there ? image[(top + i / cols) * width + left + i % cols] : -1);
    }
    __syncthreads();
    unsigned sum = 0;
    for (int w = 0; w < warps; ++w) sum += counts[w][threadIdx.x];
    bins[blockIdx.x * 256 + threadIdx.x] = sum;
}

void histogram_tiles(const unsigned char *image, int width, int height, int tile, unsigned *bins)
{
    if (width == 0 || height == 0) return;
    const int across = (width - 1) / tile + 1, down = (height - 1) / tile + 1;
    count_tiles<<<across * down, threads>>>(image, width, height, tile, across, bins);
    check_launch("count_tiles");
}

// One copy per block here, so the leaders of its warps meet and need an atomic.
static __global__ void __launch_bounds__(threads)
    count_range(const float *in, int n, float low, float high, double width, int bin_count,
                unsigned *bins)
{
    __shared__ unsigned counts[2048];
    for (int b = threadIdx.x; b < 2048; b += threads) counts[b] = 0;
    __syncthreads();
    const int lane = threadIdx.x % 32;
    for (long long row = blockIdx.x * threads + threadIdx.x - lane; row < n;
         row += gridDim.x * threads) {
        const float x = row + lane < n ? in[row + lane] : high;
        int bin = -1;
        if (low <= x && x < high)
            bin = __ddiv_rd(__dsub_rd(x, low), width); // down to a bound at most
        const unsigned same = __match_any_sync(~0u, bin);
        if (bin >= 0 && (same & ((1u << lane) - 1)) == 0) atomicAdd(counts + bin, __popc(same));
    }
    __syncthreads();
    for (int b = threadIdx.x; b < bin_count; b += threads)
        if (counts[b] > 0) atomicAdd(bins + b, counts[b]);
}

void histogram_range(const float *in, int n, float low, float high, int bin_count, unsigned *bins)
{
    clear(std::span(bins, bin_count));
    if (n == 0) return;
    const double width = (double(high) - low) / bin_count;
    count_range<<<blocks_for(n / 32), threads>>>(in, n, low, high, width, bin_count, bins);
    check_launch("count_range");
}

// The hardware adds up 32 bits of a warp in one instruction: a share of 64 bits takes four of
// these, for 16 bits each.
static __device__ long long sum_of_lanes(long long x)
{
    long long sum = 0;
    for (int k = 0; k < 3; ++k)
        sum += (long long)__reduce_add_sync(~0u, unsigned(x >> 16 * k & 0xffff)) << 16 * k;
    return sum + ((long long)__reduce_add_sync(~0u, int(x >> 48)) << 48);
}

static __global__ void __launch_bounds__(threads) add_up(const int *in, int n, long long *out)
{
    long long x = 0;
    for (int i = blockIdx.x * threads + threadIdx.x; i < n; i += gridDim.x * threads) x += in[i];
    x = sum_of_lanes(x);
    if (threadIdx.x % 32 == 0)
        atomicAdd(reinterpret_cast<unsigned long long *>(out), (unsigned long long)x);
}

void sum(const int *in, long long *out, int n)
{
    check(cudaMemsetAsync(out, 0, sizeof *out), "clearing the sum");
    add_up<<<blocks_for(n), threads>>>(in, n, out);
    check_launch("add_up");
}
