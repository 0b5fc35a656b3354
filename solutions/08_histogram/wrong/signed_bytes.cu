// Fails: histogram: any bytes | CUDA_ERROR | byte -
// On gpu: histogram: any bytes | WRONG_ANSWER |
// A char is signed: from 128 on it is a number below 0.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void count(const char *in, size_t n, unsigned *bins)
{
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    size_t step = size_t(gridDim.x) * 256;
    for (size_t i = blockIdx.x * 256 + threadIdx.x; i < n; i += step) atomicAdd(&counts[in[i]], 1);
    __syncthreads();
    atomicAdd(bins + threadIdx.x, counts[threadIdx.x]);
}

void histogram(const unsigned char *in, size_t n, unsigned *bins)
{
    cudaMemset(bins, 0, 1024);
    count<<<64, 256>>>(reinterpret_cast<const char *>(in), n, bins);
}

void histogram_tiles(const unsigned char *, int, int, int, unsigned *) {}
void histogram_range(const float *, int, float, float, int, unsigned *) {}

void sum(const int *, long long *, int) {}
