// Fails: histogram: sizes around 16 bytes, a warp and a block | WRONG_ANSWER | Only the first 16384 bytes
// The grid has a fixed size, and no thread goes on.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, grid = 64;

static __global__ void count(const unsigned char *in, size_t n, unsigned *bins)
{
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    size_t i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) atomicAdd(&counts[in[i]], 1);
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
