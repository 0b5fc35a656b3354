// Fails: sum: sizes around a warp and a block | WRONG_ANSWER | Every block added the first 256
// The index is that of the thread in its block.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static __device__ void add_to(long long *out, long long x)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(out), static_cast<unsigned long long>(x));
}

static __global__ void add(const int *in, long long *out, int n)
{
    if (threadIdx.x < n) add_to(out, in[threadIdx.x]);
}

void sum(const int *in, long long *out, int n)
{
    cudaMemsetAsync(out, 0, sizeof *out);
    if (n > 0) add<<<(n + block_size - 1) / block_size, block_size>>>(in, out, n);
}

void histogram(const unsigned char *, size_t, unsigned *) {}

void histogram_tiles(const unsigned char *, int, int, int, unsigned *) {}

void histogram_range(const float *, int, float, float, int, unsigned *) {}
