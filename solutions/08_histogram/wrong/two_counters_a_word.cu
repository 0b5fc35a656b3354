// Fails: histogram: skewed, one bin, an image | WRONG_ANSWER | at which a counter of 16 bits
// The counters of neighbouring bins share a word; nobody empties them before one runs over.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, blocks_per_sm = 4;

static __global__ void count(const unsigned char *in, size_t n, unsigned *bins)
{
    __shared__ unsigned pairs[128];
    if (threadIdx.x < 128) pairs[threadIdx.x] = 0;
    __syncthreads();
    const size_t step = size_t(gridDim.x) * block_size;
    for (size_t i = size_t(blockIdx.x) * block_size + threadIdx.x; i < n; i += step)
        atomicAdd(&pairs[in[i] / 2], in[i] % 2 ? 0x10000u : 1u);
    __syncthreads();
    const unsigned pair = pairs[threadIdx.x / 2];
    atomicAdd(&bins[threadIdx.x], threadIdx.x % 2 ? pair >> 16 : pair & 0xffff);
}

void histogram(const unsigned char *in, size_t n, unsigned *bins)
{
    int sms = 0;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaMemsetAsync(bins, 0, 256 * sizeof(unsigned));
    count<<<blocks_per_sm * sms, block_size>>>(in, n, bins);
}

void histogram_tiles(const unsigned char *, int, int, int, unsigned *) {}

void histogram_range(const float *, int, float, float, int, unsigned *) {}

void sum(const int *, long long *, int) {}
