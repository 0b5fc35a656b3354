// Fails: sum: a small array | WRONG_ANSWER | as unsigned numbers
// A negative int becomes an unsigned of 32 bits before it becomes one of 64.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static __global__ void add(const int *in, long long *out, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) atomicAdd(reinterpret_cast<unsigned long long *>(out), static_cast<unsigned>(in[i]));
}

void sum(const int *in, long long *out, int n)
{
    cudaMemsetAsync(out, 0, sizeof *out);
    if (n > 0) add<<<(n + block_size - 1) / block_size, block_size>>>(in, out, n);
}

void histogram(const unsigned char *, size_t, unsigned *) {}

void histogram_tiles(const unsigned char *, int, int, int, unsigned *) {}

void histogram_range(const float *, int, float, float, int, unsigned *) {}
