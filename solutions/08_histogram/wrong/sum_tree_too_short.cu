// Fails: sum: a small array | WRONG_ANSWER | a distance of 1 is missing
// The tree stops at two shares.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static __device__ void add_to(long long *out, long long x)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(out), static_cast<unsigned long long>(x));
}

static __global__ void add(const int *in, long long *out, int n)
{
    __shared__ long long shares[block_size];
    int i = blockIdx.x * block_size + threadIdx.x;
    shares[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int half = block_size / 2; half > 1; half /= 2) {
        if (threadIdx.x < half) shares[threadIdx.x] += shares[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) add_to(out, shares[0]);
}

void sum(const int *in, long long *out, int n)
{
    cudaMemsetAsync(out, 0, sizeof *out);
    if (n > 0) add<<<(n + block_size - 1) / block_size, block_size>>>(in, out, n);
}

void histogram(const unsigned char *, size_t, unsigned *) {}

void histogram_tiles(const unsigned char *, int, int, int, unsigned *) {}

void histogram_range(const float *, int, float, float, int, unsigned *) {}
