// Fails: radix_sort: random keys | NONDETERMINISTIC | leave keys of the same digit
// On gpu: radix_sort: many tiles | WRONG_ANSWER |
// Keys of a digit get their places in the order of arrival: each pass undoes the ones before it.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, digits = 256;

// Where each digit begins, by one block.
static __global__ void count_digits(const unsigned *keys, int n, int shift, unsigned *starts)
{
    __shared__ unsigned counts[digits];
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += block_size)
        atomicAdd(&counts[keys[i] >> shift & (digits - 1)], 1);
    __syncthreads();
    unsigned before = 0;
    for (int d = 0; d < int(threadIdx.x); ++d) before += counts[d];
    starts[threadIdx.x] = before;
}

static __global__ void place(const unsigned *keys, unsigned *to, int n, int shift, unsigned *starts)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) to[atomicAdd(&starts[keys[i] >> shift & (digits - 1)], 1)] = keys[i];
}

size_t radix_sort_scratch(int n) { return sizeof(unsigned) * (n + digits); }
void radix_sort(unsigned *keys, int n, void *scratch)
{
    unsigned *before = static_cast<unsigned *>(scratch);
    if (n == 0) return;
    for (int shift = 0; shift < 32; shift += 8) {
        cudaMemcpyAsync(before, keys, sizeof(unsigned) * n, cudaMemcpyDeviceToDevice);
        count_digits<<<1, block_size>>>(before, n, shift, before + n);
        place<<<n / block_size + 1, block_size>>>(before, keys, n, shift, before + n);
    }
}

void sort_warps(unsigned *, int) {}

size_t radix_sort_pairs_scratch(int) { return 0; }
void radix_sort_pairs(unsigned *, unsigned *, int, void *) {}

size_t radix_sort_floats_scratch(int) { return 0; }
void radix_sort_floats(float *, int, void *) {}
