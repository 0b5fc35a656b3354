// Fails: sum: more than an int holds | WRONG_ANSWER | its lower 32 bits
// An int on the device takes the atomics, and is widened at the end.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static __device__ int total;

static __global__ void clear() { total = 0; }

static __global__ void add(const int *in, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) atomicAdd(&total, in[i]);
}

static __global__ void widen(long long *out) { *out = total; }

void sum(const int *in, long long *out, int n)
{
    clear<<<1, 1>>>();
    if (n > 0) add<<<(n + block_size - 1) / block_size, block_size>>>(in, n);
    widen<<<1, 1>>>(out);
}

void histogram(const unsigned char *, size_t, unsigned *) {}

void histogram_tiles(const unsigned char *, int, int, int, unsigned *) {}

void histogram_range(const float *, int, float, float, int, unsigned *) {}
