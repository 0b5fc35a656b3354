// Fails: histogram_tiles: ragged edges | WRONG_ANSWER | which are not whole, nothing was counted
// The rows that are left in a tile are computed from the width.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static __global__ void count(const unsigned char *image, int width, int height, int tile,
                             int across, unsigned *bins)
{
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    int left = blockIdx.x % across * tile, top = blockIdx.x / across * tile;
    int columns = min(tile, width - left), rows = max(min(tile, width - top), 0);
    for (int i = threadIdx.x; i < columns * rows; i += block_size)
        atomicAdd(&counts[image[(top + i / columns) * width + left + i % columns]], 1);
    __syncthreads();
    bins[blockIdx.x * 256 + threadIdx.x] = counts[threadIdx.x];
}

void histogram_tiles(const unsigned char *image, int width, int height, int tile, unsigned *bins)
{
    if (width == 0 || height == 0) return;
    int across = (width - 1) / tile + 1, down = (height - 1) / tile + 1;
    count<<<across * down, block_size>>>(image, width, height, tile, across, bins);
}

void histogram(const unsigned char *, size_t, unsigned *) {}

void histogram_range(const float *, int, float, float, int, unsigned *) {}

void sum(const int *, long long *, int) {}
