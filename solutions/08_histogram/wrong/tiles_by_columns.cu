// Fails: histogram_tiles: a small image | WRONG_ANSWER | numbered down the columns
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static __global__ void count(const unsigned char *image, int width, int height, int tile,
                             int across, unsigned *bins)
{
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    int down = gridDim.x / across;
    int left = blockIdx.x / down * tile, top = blockIdx.x % down * tile;
    int columns = min(tile, width - left), rows = min(tile, height - top);
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
