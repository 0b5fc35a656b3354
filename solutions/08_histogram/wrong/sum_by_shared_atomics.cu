// Fails: sum: few barriers | TOO_SLOW | atomics, barriers and passes
// Each element is added to its block's sum in shared memory, by an atomic.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 1024;
using word = unsigned long long;

static __global__ void add(const int *in, word *out, int n)
{
    __shared__ word all;
    if (threadIdx.x == 0) all = 0;
    __syncthreads();
    for (int i = blockIdx.x * block_size + threadIdx.x; i < n; i += gridDim.x * block_size)
        atomicAdd(&all, word(in[i]));
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, all);
}

void sum(const int *in, long long *out, int n)
{
    cudaMemsetAsync(out, 0, sizeof *out);
    int blocks = min((n + block_size - 1) / block_size, 16);
    if (n > 0) add<<<blocks, block_size>>>(in, reinterpret_cast<word *>(out), n);
}

// Not begun.
void histogram(const unsigned char *, size_t, unsigned *) {}
void histogram_tiles(const unsigned char *, int, int, int, unsigned *) {}
void histogram_range(const float *, int, float, float, int, unsigned *) {}
