// Fails: radix_sort_pairs: a few keys | WRONG_ANSWER | The values are where they were
// Only the keys are moved.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

// A key's place is how many go before it.
static __global__ void place(const unsigned *before, unsigned *keys, unsigned *values, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x, to = 0;
    if (i >= n) return;
    for (int j = 0; j < n; ++j) to += before[j] < before[i] || (before[j] == before[i] && j < i);
    keys[to] = before[i];
    values[i] = before[n + i];
}

size_t radix_sort_pairs_scratch(int n) { return 2 * sizeof(unsigned) * n; }
void radix_sort_pairs(unsigned *keys, unsigned *values, int n, void *scratch)
{
    unsigned *before = static_cast<unsigned *>(scratch);
    cudaMemcpyAsync(before, keys, sizeof(unsigned) * n, cudaMemcpyDeviceToDevice);
    cudaMemcpyAsync(before + n, values, sizeof(unsigned) * n, cudaMemcpyDeviceToDevice);
    if (n > 0) place<<<n / block_size + 1, block_size>>>(before, keys, values, n);
}

void sort_warps(unsigned *, int) {}

size_t radix_sort_scratch(int) { return 0; }
void radix_sort(unsigned *, int, void *) {}

size_t radix_sort_floats_scratch(int) { return 0; }
void radix_sort_floats(float *, int, void *) {}
