// Right: Two 16-bit counters in a word, one column per lane, in dynamic shared memory; the block
// empties them before one can run over. The range's bins come from a subtraction rounded down.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

constexpr int threads = 512, words = 128; // words: of two bins each
// Sixteen warps share a column; each adds at most 16 per round to one counter.
constexpr int rounds_until_full = 65535 / (threads / 32 * 16);

static int blocks_for(size_t work)
{
    int sms = 0;
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "asking for the SMs");
    return std::clamp<size_t>((work + threads - 1) / threads, 1, 4 * sms);
}

class columns {
public:
    __device__ explicit columns(unsigned *memory) : at_(memory) {}
    __device__ void clear() const
    {
        for (int i = threadIdx.x; i < words * 32; i += threads) at_[i] = 0;
    }
    __device__ void count(unsigned value) const
    {
        atomicAdd(&at_[(value >> 1) * 32 + threadIdx.x % 32], value & 1 ? 65536u : 1u);
    }
    // Thread w adds up row w, from a column of its own, so that banks differ.
    __device__ void add_to(unsigned *bins, bool alone) const
    {
        if (threadIdx.x >= words) return;
        unsigned even = 0, odd = 0;
        for (int c = 0; c < 32; ++c) {
            unsigned word = at_[threadIdx.x * 32 + (c + threadIdx.x) % 32];
            even += word & 0xffff;
            odd += word >> 16;
        }
        unsigned *mine = bins + 2 * threadIdx.x;
        if (even) alone ? mine[0] += even : atomicAdd(mine, even);
        if (odd) alone ? mine[1] += odd : atomicAdd(mine + 1, odd);
    }

private:
    unsigned *at_;
};

extern __shared__ unsigned dynamic[];

static __global__ void __launch_bounds__(threads)
    count_bytes(const unsigned char *in, size_t n, unsigned *bins)
{
    const columns counts(dynamic);
    counts.clear();
    __syncthreads();
    const size_t head = min(n, size_t(-reinterpret_cast<std::uintptr_t>(in) & 15));
    const size_t wide = (n - head) / 16, tail = head + wide * 16;
    const auto *body = reinterpret_cast<const uint4 *>(in + head);
    if (blockIdx.x == 0 && threadIdx.x < 32) { // at most 15 bytes at either end
        if (threadIdx.x < head) counts.count(in[threadIdx.x]);
        if (tail + threadIdx.x < n) counts.count(in[tail + threadIdx.x]);
    }
    const size_t step = size_t(gridDim.x) * threads;
    int round = 1; // what came from the ends was less than a round
    for (size_t start = size_t(blockIdx.x) * threads; start < wide; start += step) {
        if (start + threadIdx.x < wide) {
            const uint4 x = body[start + threadIdx.x];
            for (unsigned word : {x.x, x.y, x.z, x.w})
                for (int shift = 0; shift < 32; shift += 8) counts.count(word >> shift & 255);
        }
        if (++round == rounds_until_full) { // the same for all threads of the block
            __syncthreads();
            counts.add_to(bins, false);
            __syncthreads();
            counts.clear();
            __syncthreads();
            round = 0;
        }
    }
    __syncthreads();
    counts.add_to(bins, false);
}

void histogram(const unsigned char *in, size_t n, unsigned *bins)
{
    check(cudaMemsetAsync(bins, 0, 256 * sizeof *bins), "clearing the bins");
    if (n == 0) return;
    count_bytes<<<blocks_for(n / 128), threads, words * 32 * 4>>>(in, n, bins);
    check_launch("count_bytes");
}

// One block per tile. Rows of a tile begin anywhere, so pixels are loaded one by one.
static __global__ void __launch_bounds__(threads)
    count_tiles(const unsigned char *image, int width, int height, int tile, int across,
                unsigned *bins)
{
    __shared__ unsigned counts[threads / 32][256]; // one copy per warp
    const int left = blockIdx.x % across * tile, top = blockIdx.x / across * tile;
    const int cols = min(tile, width - left), rows = min(tile, height - top);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int v = lane; v < 256; v += 32) counts[warp][v] = 0;
    __syncwarp();
    for (int r = warp; r < rows; r += threads / 32)
        for (int c = lane; c < cols; c += 32)
            atomicAdd(&counts[warp][image[(top + r) * width + left + c]], 1);
    __syncthreads();
    if (threadIdx.x >= 256) return;
    unsigned sum = 0;
    for (auto &copy : counts) sum += copy[threadIdx.x];
    bins[blockIdx.x * 256 + threadIdx.x] = sum;
}

void histogram_tiles(const unsigned char *image, int width, int height, int tile, unsigned *bins)
{
    if (width == 0 || height == 0) return;
    const int across = (width - 1) / tile + 1, down = (height - 1) / tile + 1;
    count_tiles<<<across * down, threads>>>(image, width, height, tile, across, bins);
    check_launch("count_tiles");
}

// The bounds' distances from low are floats, so a difference that is rounded down passes none of
// them: no correction is needed. Dividing by a power of two is exact.
static __global__ void __launch_bounds__(threads)
    count_range(const float *in, int n, float low, float high, float width, int bin_count,
                unsigned *bins)
{
    __shared__ unsigned counts[2048];
    for (int b = threadIdx.x; b < bin_count; b += threads) counts[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * threads + threadIdx.x; i < n; i += gridDim.x * threads) {
        const float x = in[i];
        if (x >= low && x < high) atomicAdd(&counts[int(__fsub_rd(x, low) / width)], 1);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < bin_count; b += threads)
        if (counts[b]) atomicAdd(bins + b, counts[b]);
}

void histogram_range(const float *in, int n, float low, float high, int bin_count, unsigned *bins)
{
    const float width = (double(high) - low) / bin_count;
    check(cudaMemsetAsync(bins, 0, bin_count * sizeof *bins), "clearing the bins");
    if (n == 0) return;
    count_range<<<blocks_for(n / 32), threads>>>(in, n, low, high, width, bin_count, bins);
    check_launch("count_range");
}

// Sums in 32 bits: one of the lower halves of the elements, one of the upper. A thread has fewer
// than 2^16 elements, so neither can run over.
static __global__ void __launch_bounds__(threads) add_halves(const int *in, int n, long long *out)
{
    __shared__ long long shares[threads / 4];
    unsigned low = 0;
    int high = 0;
    for (int i = blockIdx.x * threads + threadIdx.x; i < n; i += gridDim.x * threads)
        low += in[i] & 0xffff, high += in[i] >> 16;
    long long x = ((long long)high << 16) + low;
    // Four lanes side by side by shuffles, the rest in a tree of 128, then of a warp.
    x += __shfl_xor_sync(~0u, x, 1);
    x += __shfl_xor_sync(~0u, x, 2);
    if (threadIdx.x % 4 == 0) shares[threadIdx.x / 4] = x;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    x = shares[threadIdx.x] + shares[threadIdx.x + 32] + shares[threadIdx.x + 64] +
        shares[threadIdx.x + 96];
    for (int d = 1; d < 32; d *= 2) x += __shfl_down_sync(~0u, x, d);
    if (threadIdx.x == 0)
        atomicAdd(reinterpret_cast<unsigned long long *>(out), (unsigned long long)x);
}

void sum(const int *in, long long *out, int n)
{
    constexpr int max_of_a_thread = 1 << 15;
    check(cudaMemsetAsync(out, 0, sizeof *out), "clearing the sum");
    const int needed = n / (threads * max_of_a_thread) + 1;
    if (n > 0) add_halves<<<std::max(blocks_for(n), needed), threads>>>(in, n, out);
    check_launch("add_halves");
}
