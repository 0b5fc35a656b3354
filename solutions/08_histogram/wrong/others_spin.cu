// Fails: histogram: speed, uniform | TOO_SLOW | lanes at work
// On gpu: histogram: speed, uniform | TOO_SLOW |
// One lane of each warp counts, beside a kernel that computes nothing with all its lanes.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int piece = 1024, blocks = 8;

static __global__ void spin(unsigned *to, int times)
{
    float x = threadIdx.x;
    for (int i = 0; i < times; ++i) x = x * x + 1;
    if (x == 0.5f) *to = 1;
}

static __global__ void count_alone(const unsigned char *in, size_t n, unsigned *bins)
{
    __shared__ unsigned own[256];
    __shared__ unsigned char some[piece];
    for (int v = threadIdx.x; v < 256; v += 32) own[v] = 0;
    for (size_t first = size_t(blockIdx.x) * piece; first < n; first += blocks * piece) {
        int count = int(min(n - first, size_t(piece)));
        __syncwarp();
        for (int i = threadIdx.x; i < count; i += 32) some[i] = in[first + i];
        __syncwarp();
        if (threadIdx.x == 0)
            for (int i = 0; i < count; ++i) ++own[some[i]];
    }
    __syncwarp();
    for (int v = threadIdx.x; v < 256; v += 32) atomicAdd(&bins[v], own[v]);
}

void histogram(const unsigned char *in, size_t n, unsigned *bins)
{
    cudaMemsetAsync(bins, 0, 256 * sizeof(unsigned));
    spin<<<64, 1024>>>(bins, 6000);
    if (n > 0) count_alone<<<blocks, 32>>>(in, n, bins);
}

// Not begun.
void sum(const int *, long long *, int) {}
void histogram_tiles(const unsigned char *, int, int, int, unsigned *) {}
void histogram_range(const float *, int, float, float, int, unsigned *) {}
