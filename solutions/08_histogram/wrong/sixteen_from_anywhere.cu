// Fails: histogram: arrays that begin anywhere | CUDA_ERROR | as in TODO 11, needs an address
// On gpu: histogram: arrays that begin anywhere | CUDA_ERROR | misaligned address
// 16 bytes are loaded wherever `in` begins.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, grid = 64;

static __global__ void count(const unsigned char *in, size_t n, unsigned *bins)
{
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    size_t threads = gridDim.x * block_size;
    const uint4 *whole = reinterpret_cast<const uint4 *>(in);
    for (size_t i = blockIdx.x * block_size + threadIdx.x; i < n / 16; i += threads) {
        uint4 v = whole[i];
        for (unsigned word : {v.x, v.y, v.z, v.w})
            for (int k = 0; k < 32; k += 8) atomicAdd(&counts[word >> k & 255], 1);
    }
    if (blockIdx.x == 0 && threadIdx.x < n % 16) atomicAdd(&counts[in[n - 1 - threadIdx.x]], 1);
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
