// Lab 08, rung 1: a block adds and counts in shared memory, and does one atomic per result.
//
// New: in `sum` the tree with a barrier after each of its steps (Harris 2007), and one atomic per
// block. In the histograms `counts`, a block's own bins, with a barrier after they are cleared and
// one before they are added up. A grid-stride loop gives each thread many elements, so that there
// are few blocks. A tile belongs to one block, which writes its bins instead of adding to them.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>

constexpr int block_size = 256;
constexpr int blocks_per_sm = 8; // 2048 threads

// Enough for the device, and no more than there are elements for.
static int blocks_for(size_t elements)
{
    int device = 0, sms = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device),
          "asking for the SMs");
    return std::min<size_t>(sms * blocks_per_sm, (elements + block_size - 1) / block_size);
}

// Adds to *out atomically. Of the 64-bit integers atomicAdd takes only unsigned ones; the bits of
// the sum are the same.
static __device__ void add_to(long long *out, long long x)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(out), static_cast<unsigned long long>(x));
}

static __global__ void add_by_tree(const int *in, long long *out, int n)
{
    __shared__ long long sums[block_size];
    int i = blockIdx.x * block_size + threadIdx.x;
    sums[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int half = block_size / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads(); // the next step reads what this one wrote
    }
    if (threadIdx.x == 0) add_to(out, sums[0]);
}

void sum(const int *in, long long *out, int n)
{
    check(cudaMemsetAsync(out, 0, sizeof *out), "clearing the sum");
    if (n > 0) add_by_tree<<<(n + block_size - 1) / block_size, block_size>>>(in, out, n);
    check_launch("add_by_tree");
}

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
    __shared__ unsigned counts[256];
    clear(counts, 256);
    size_t threads = size_t(gridDim.x) * block_size;
    for (size_t i = blockIdx.x * block_size + threadIdx.x; i < n; i += threads)
        atomicAdd(&counts[in[i]], 1);
    add_up(counts, 256, bins);
}

void histogram(const unsigned char *in, size_t n, unsigned *bins)
{
    check(cudaMemsetAsync(bins, 0, 256 * sizeof(unsigned)), "clearing the bins");
    if (n > 0) count_bytes<<<blocks_for(n), block_size>>>(in, n, bins);
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
    if (n > 0) count_range<<<blocks_for(n), block_size>>>(in, n, low, high, width, bin_count, bins);
    check_launch("count_range");
}
