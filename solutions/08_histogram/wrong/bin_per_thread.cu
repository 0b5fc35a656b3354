// Fails: histogram_range: numbers at the bounds | WRONG_ANSWER | Only the first 128 bins
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void count(const float *in, int n, float low, float high, int bin_count,
                             unsigned *bins)
{
    __shared__ unsigned counts[2048];
    float width = (high - low) / bin_count;
    for (int b = threadIdx.x; b < bin_count; b += blockDim.x) counts[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float x = in[i];
        if (!(x >= low && x < high)) continue;
        int b = min(int((x - low) / width), bin_count - 1);
        atomicAdd(counts + b - (x < low + b * width), 1);
    }
    __syncthreads();
    if (threadIdx.x < bin_count) atomicAdd(bins + threadIdx.x, counts[threadIdx.x]);
}

void histogram_range(const float *in, int n, float low, float high, int bin_count, unsigned *bins)
{
    cudaMemset(bins, 0, bin_count * sizeof(unsigned));
    count<<<7, 128>>>(in, n, low, high, bin_count, bins);
}

void histogram(const unsigned char *, size_t, unsigned *) {}
void histogram_tiles(const unsigned char *, int, int, int, unsigned *) {}

void sum(const int *, long long *, int) {}
