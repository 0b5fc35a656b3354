// Right: A fixed grid whose blocks draw chunks of 16 KiB from a counter until none is left, so that
// no block waits for a slow one; one column per lane.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

constexpr int threads = 512, chunk = 1024; // chunk: loads of 16 bytes, or pixels, or floats

static __device__ unsigned long long next_chunk;
static __global__ void start() { next_chunk = 0; }

// Calls work(first, beyond) by all threads of the block for each chunk it gets.
template <class Work> static __device__ void draw_chunks(size_t elements, Work work)
{
    __shared__ size_t first;
    for (;;) {
        __syncthreads(); // all have read the one before
        if (threadIdx.x == 0) first = atomicAdd(&next_chunk, 1ull) * chunk;
        __syncthreads();
        if (first >= elements) return;
        work(first + threadIdx.x, min(first + chunk, elements));
    }
}

static int blocks_for(size_t elements)
{
    int sms = 0;
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "asking for the SMs");
    return std::clamp<size_t>(elements / (4 * chunk), 1, 4 * sms);
}

static __global__ void __launch_bounds__(threads)
    count_bytes(const unsigned char *in, size_t n, unsigned *bins)
{
    __shared__ unsigned counts[256][32];
    const int lane = threadIdx.x % 32;
    for (int v = threadIdx.x / 32; v < 256; v += threads / 32) counts[v][lane] = 0;
    const size_t head = min(n, size_t(-reinterpret_cast<std::uintptr_t>(in) & 15));
    const size_t wide = (n - head) / 16, tail = head + wide * 16;
    const auto *body = reinterpret_cast<const uint4 *>(in + head);
    auto count = [&](unsigned value) { atomicAdd(&counts[value][lane], 1); };
    // The first barrier inside is also the one after clearing.
    draw_chunks(wide, [&](size_t first, size_t beyond) {
        for (size_t i = first; i < beyond; i += threads) {
            const uint4 x = body[i];
            for (unsigned word : {x.x, x.y, x.z, x.w})
                for (int shift = 0; shift < 32; shift += 8) count(word >> shift & 255);
        }
    });
    if (blockIdx.x == 0 && threadIdx.x < head) count(in[threadIdx.x]);
    if (blockIdx.x == 0 && tail + threadIdx.x < n) count(in[tail + threadIdx.x]);
    __syncthreads();
    for (int v = threadIdx.x / 32; v < 256; v += threads / 32) {
        const unsigned sum = __reduce_add_sync(~0u, counts[v][lane]);
        if (lane == 0 && sum > 0) atomicAdd(bins + v, sum);
    }
}

void histogram(const unsigned char *in, size_t n, unsigned *bins)
{
    check(cudaMemsetAsync(bins, 0, 256 * sizeof *bins), "clearing the bins");
    if (n == 0) return;
    start<<<1, 1>>>();
    count_bytes<<<blocks_for(n / 16), threads>>>(in, n, bins);
    check_launch("count_bytes");
}

static __global__ void __launch_bounds__(threads)
    count_tiles(const unsigned char *image, int width, int height, int tile, unsigned *bins)
{
    __shared__ unsigned counts[2][256]; // half of the block each
    counts[threadIdx.x / 256][threadIdx.x % 256] = 0;
    __syncthreads();
    const int across = (width - 1) / tile + 1;
    const int left = blockIdx.x % across * tile, top = blockIdx.x / across * tile;
    const int cols = min(tile, width - left), pixels = cols * min(tile, height - top);
    for (int i = threadIdx.x; i < pixels; i += threads)
        atomicAdd(&counts[threadIdx.x / 256][image[(top + i / cols) * width + left + i % cols]], 1);
    __syncthreads();
    const int v = threadIdx.x;
    if (v < 256) bins[blockIdx.x * 256 + v] = counts[0][v] + counts[1][v];
}

void histogram_tiles(const unsigned char *image, int width, int height, int tile, unsigned *bins)
{
    if (width == 0 || height == 0) return;
    const int tiles = ((width - 1) / tile + 1) * ((height - 1) / tile + 1);
    count_tiles<<<tiles, threads>>>(image, width, height, tile, bins);
    check_launch("count_tiles");
}

static __global__ void __launch_bounds__(threads)
    count_range(const float *in, int n, float low, float high, float width, int bin_count,
                unsigned *bins)
{
    __shared__ unsigned counts[2048];
    for (int b = threadIdx.x; b < bin_count; b += threads) counts[b] = 0;
    draw_chunks(n, [&](size_t first, size_t beyond) {
        for (size_t i = first; i < beyond; i += threads) {
            const float x = in[i];
            if (x >= low && x < high) atomicAdd(&counts[int(__fsub_rd(x, low) / width)], 1);
        }
    });
    for (int b = threadIdx.x; b < bin_count; b += threads)
        if (counts[b]) atomicAdd(bins + b, counts[b]);
}

void histogram_range(const float *in, int n, float low, float high, int bin_count, unsigned *bins)
{
    check(cudaMemsetAsync(bins, 0, bin_count * sizeof *bins), "clearing the bins");
    if (n == 0) return;
    start<<<1, 1>>>();
    count_range<<<blocks_for(n), threads>>>(in, n, low, high, (high - low) / bin_count, bin_count,
                                            bins);
    check_launch("count_range");
}

static __global__ void __launch_bounds__(threads) add_chunks(const int *in, int n, long long *out)
{
    constexpr int loads = 4; // per ticket and thread: a ticket costs two barriers
    const int head = min(n, int(-(reinterpret_cast<std::uintptr_t>(in) / 4) & 3));
    const int wide = (n - head) / 4, tail = head + wide * 4;
    const auto *body = reinterpret_cast<const int4 *>(in + head);
    long long mine = 0;
    draw_chunks((wide + loads - 1) / loads, [&](size_t first, size_t beyond) {
        const size_t chunk_at = loads * (first - threadIdx.x);
        for (size_t i = chunk_at + threadIdx.x; i < min(loads * beyond, size_t(wide)); i += threads)
            for (int x : {body[i].x, body[i].y, body[i].z, body[i].w}) mine += x;
    });
    if (blockIdx.x == 0 && threadIdx.x < head) mine += in[threadIdx.x];
    if (blockIdx.x == 0 && tail + threadIdx.x < n) mine += in[tail + threadIdx.x];
    for (int mask = 1; mask < 32; mask *= 2) mine += __shfl_xor_sync(~0u, mine, mask);
    if (threadIdx.x % 32 == 0)
        atomicAdd(reinterpret_cast<unsigned long long *>(out), (unsigned long long)mine);
}

void sum(const int *in, long long *out, int n)
{
    check(cudaMemsetAsync(out, 0, sizeof *out), "clearing the sum");
    if (n == 0) return;
    start<<<1, 1>>>();
    add_chunks<<<blocks_for(n), threads>>>(in, n, out);
    check_launch("add_chunks");
}
