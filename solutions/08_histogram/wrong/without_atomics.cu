// Fails: histogram: a small array | RACE | `counts
// On gpu: histogram: a small array | WRONG_ANSWER |
// Of several threads that add 1 to a count at the same time, one is heard.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, grid = 64;

static __global__ void count(const unsigned char *in, size_t n, unsigned *bins)
{
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    size_t threads = gridDim.x * block_size;
    for (size_t i = blockIdx.x * block_size + threadIdx.x; i < n; i += threads) ++counts[in[i]];
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}

void histogram(const unsigned char *in, size_t n, unsigned *bins)
{
    cudaMemsetAsync(bins, 0, 256 * sizeof(unsigned));
    if (n > 0) count<<<grid, block_size>>>(in, n, bins);
}

void histogram_tiles(const unsigned char *, int, int, int, unsigned *) {}

void histogram_range(const float *, int, float, float, int, unsigned *) {}

void sum(const int *, long long *, int) {}
