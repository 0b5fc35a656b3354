// Fails: histogram_tiles: tiles of every size | LAUNCH_FAILED | at most 65535 blocks in y
// On gpu: histogram_tiles: tiles of every size | LAUNCH_FAILED |
// One block per tile, the rows of tiles in y.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void count(const unsigned char *image, int width, int height, int tile,
                             unsigned *bins)
{
    __shared__ unsigned counts[256];
    int across = (width + tile - 1) / tile, t = blockIdx.y * across + blockIdx.x;
    int right = min(width, int(blockIdx.x + 1) * tile),
        low = min(height, int(blockIdx.y + 1) * tile);
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int y = blockIdx.y * tile; y < low; ++y)
        for (int x = blockIdx.x * tile + threadIdx.x; x < right; x += 256)
            atomicAdd(counts + image[size_t(y) * width + x], 1);
    __syncthreads();
    bins[size_t(t) * 256 + threadIdx.x] = counts[threadIdx.x];
}

void histogram_tiles(const unsigned char *image, int width, int height, int tile, unsigned *bins)
{
    if (width == 0 || height == 0) return;
    dim3 grid((width + tile - 1) / tile, (height + tile - 1) / tile);
    count<<<grid, 256>>>(image, width, height, tile, bins);
}

void histogram(const unsigned char *, size_t, unsigned *) {}
void histogram_range(const float *, int, float, float, int, unsigned *) {}

void sum(const int *, long long *, int) {}
