// Fails: sum: sizes around a warp and a block | WRONG_ANSWER | once more for every 256
// Each thread goes on by the threads of its block, into what other blocks add as well.
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
    long long x = 0;
    for (int i = blockIdx.x * block_size + threadIdx.x; i < n; i += block_size) x += in[i];
    shares[threadIdx.x] = x;
    __syncthreads();
    for (int half = block_size / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) shares[threadIdx.x] += shares[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) add_to(out, shares[0]);
}

void sum(const int *in, long long *out, int n)
{
    cudaMemsetAsync(out, 0, sizeof *out);
    int blocks = min((n + block_size - 1) / block_size, 16);
    if (n > 0) add<<<blocks, block_size>>>(in, out, n);
}

void histogram(const unsigned char *, size_t, unsigned *) {}

void histogram_tiles(const unsigned char *, int, int, int, unsigned *) {}

void histogram_range(const float *, int, float, float, int, unsigned *) {}
