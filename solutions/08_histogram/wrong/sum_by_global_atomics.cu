// Fails: sum: few atomics | TOO_SLOW | global atomics per element
// On gpu: sum: speed | TOO_SLOW | times
// A grid of few blocks, and one atomic per element nevertheless.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static __device__ void add_to(long long *out, long long x)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(out), static_cast<unsigned long long>(x));
}

static __global__ void add(const int *in, long long *out, int n)
{
    for (int i = blockIdx.x * block_size + threadIdx.x; i < n; i += gridDim.x * block_size)
        add_to(out, in[i]);
}

void sum(const int *in, long long *out, int n)
{
    cudaMemsetAsync(out, 0, sizeof *out);
    if (n > 0) add<<<64, block_size>>>(in, out, n);
}

void histogram(const unsigned char *, size_t, unsigned *) {}

void histogram_tiles(const unsigned char *, int, int, int, unsigned *) {}

void histogram_range(const float *, int, float, float, int, unsigned *) {}
