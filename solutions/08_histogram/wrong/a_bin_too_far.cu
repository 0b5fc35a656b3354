// Fails: histogram_range: numbers at the bounds | UNINITIALISED | as if x were in bin bin_count
// On gpu: may pass - what is counted behind the last bin is not merged, and the rest may be right
// Each bin's lower bound is asked, but not the one that is rounded up to `high`.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void count_inside(const float *in, int n, float low, float high, int bin_count,
                                    unsigned *bins)
{
    __shared__ unsigned counts[2048];
    for (int b = threadIdx.x; b < bin_count; b += blockDim.x) counts[b] = 0;
    __syncthreads();
    float width = (high - low) / bin_count;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        if (!(in[i] >= low && in[i] < high)) continue;
        int b = (in[i] - low) / width;
        atomicAdd(&counts[b < bin_count && in[i] < low + b * width ? b - 1 : b], 1);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < bin_count; b += blockDim.x) bins[b] = counts[b];
}

void histogram_range(const float *in, int n, float low, float high, int bin_count, unsigned *bins)
{
    count_inside<<<1, 512>>>(in, n, low, high, bin_count, bins);
}

void histogram(const unsigned char *, size_t, unsigned *) {}

void histogram_tiles(const unsigned char *, int, int, int, unsigned *) {}

void sum(const int *, long long *, int) {}
