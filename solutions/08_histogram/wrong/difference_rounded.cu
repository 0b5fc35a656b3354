// Fails: histogram_range: numbers at the bounds | WRONG_ANSWER | rounded up to the next bound
// x - low is taken to be exact.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, grid = 64;

static __global__ void count(const float *in, int n, float low, float high, float width,
                             int bin_count, unsigned *bins)
{
    for (int i = blockIdx.x * block_size + threadIdx.x; i < n; i += gridDim.x * block_size) {
        float x = in[i];
        if (!(x >= low && x < high)) continue;
        int b = (x - low) / width;
        if (b < bin_count) atomicAdd(&bins[b], 1);
    }
}

void histogram_range(const float *in, int n, float low, float high, int bin_count, unsigned *bins)
{
    float width = (high - low) / bin_count;
    cudaMemsetAsync(bins, 0, sizeof(unsigned) * bin_count);
    count<<<grid, block_size>>>(in, n, low, high, width, bin_count, bins);
}

void histogram(const unsigned char *, size_t, unsigned *) {}

void histogram_tiles(const unsigned char *, int, int, int, unsigned *) {}

void sum(const int *, long long *, int) {}
