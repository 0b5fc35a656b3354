// Fails: sum: a small array | UNINITIALISED | added to the old contents
// On gpu: sum: a small array | WRONG_ANSWER |
// Nobody sets *out to 0.
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
    if (i < n) add_to(out, in[i]);
}

void sum(const int *in, long long *out, int n)
{
    if (n > 0) add<<<(n + block_size - 1) / block_size, block_size>>>(in, out, n);
}

void histogram(const unsigned char *, size_t, unsigned *) {}

void histogram_tiles(const unsigned char *, int, int, int, unsigned *) {}

void histogram_range(const float *, int, float, float, int, unsigned *) {}
