// Fails: sum: a small array | WRONG_ANSWER | added 2 times
// A warp's sum goes to *out by itself and once more in its block's.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static __device__ void add_to(long long *out, long long x)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(out), static_cast<unsigned long long>(x));
}

static __global__ void add(const int *in, long long *out, int n)
{
    __shared__ long long shares[block_size / 32];
    int i = blockIdx.x * block_size + threadIdx.x, warp = threadIdx.x / 32;
    long long x = i < n ? in[i] : 0;
    for (int distance = 16; distance > 0; distance /= 2) x += __shfl_down_sync(~0u, x, distance);
    if (threadIdx.x % 32 == 0) {
        shares[warp] = x;
        add_to(out, x);
    }
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int w = 1; w < block_size / 32; ++w) x += shares[w];
    add_to(out, x);
}

void sum(const int *in, long long *out, int n)
{
    cudaMemsetAsync(out, 0, sizeof *out);
    if (n > 0) add<<<(n + block_size - 1) / block_size, block_size>>>(in, out, n);
}

void histogram(const unsigned char *, size_t, unsigned *) {}

void histogram_tiles(const unsigned char *, int, int, int, unsigned *) {}

void histogram_range(const float *, int, float, float, int, unsigned *) {}
