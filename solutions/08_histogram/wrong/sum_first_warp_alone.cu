// Fails: sum: sizes around a warp and a block | WRONG_ANSWER | the first 32 were added
// The sums of a block's other warps are never read.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static __device__ void add_to(long long *out, long long x)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(out), static_cast<unsigned long long>(x));
}

static __global__ void add(const int *in, long long *out, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    long long x = i < n ? in[i] : 0;
    for (int distance = 16; distance > 0; distance /= 2) x += __shfl_down_sync(~0u, x, distance);
    if (threadIdx.x == 0) add_to(out, x);
}

void sum(const int *in, long long *out, int n)
{
    cudaMemsetAsync(out, 0, sizeof *out);
    if (n > 0) add<<<(n + block_size - 1) / block_size, block_size>>>(in, out, n);
}

void histogram(const unsigned char *, size_t, unsigned *) {}

void histogram_tiles(const unsigned char *, int, int, int, unsigned *) {}

void histogram_range(const float *, int, float, float, int, unsigned *) {}
