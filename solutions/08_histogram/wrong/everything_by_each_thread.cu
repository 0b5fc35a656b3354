// Fails: histogram: speed, uniform | TOO_SLOW | Every element is loaded many times
// On gpu: histogram: speed, uniform | TOO_SLOW | times
// Each of a block's 256 threads looks through the block's bytes for a value of its own.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, grid = 64;

static __global__ void count(const unsigned char *in, size_t n, unsigned *bins)
{
    size_t part = (n + grid - 1) / grid, first = part * blockIdx.x;
    unsigned mine = 0;
    for (size_t i = first; i < n && i < first + part; ++i) mine += in[i] == threadIdx.x;
    atomicAdd(&bins[threadIdx.x], mine);
}

void histogram(const unsigned char *in, size_t n, unsigned *bins)
{
    cudaMemsetAsync(bins, 0, 256 * sizeof(unsigned));
    if (n > 0) count<<<grid, block_size>>>(in, n, bins);
}

void histogram_tiles(const unsigned char *, int, int, int, unsigned *) {}

void histogram_range(const float *, int, float, float, int, unsigned *) {}

void sum(const int *, long long *, int) {}
