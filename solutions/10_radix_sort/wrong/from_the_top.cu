// Fails: radix_sort: random keys | WRONG_ANSWER | from the highest digit to the lowest
// The passes are right, and in the wrong order.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, digits = 256;

static __global__ void place(const unsigned *keys, unsigned *to, int n, int shift)
{
    int i = blockIdx.x * block_size + threadIdx.x, before = 0;
    if (i >= n) return;
    unsigned digit = keys[i] >> shift & (digits - 1);
    for (int j = 0; j < n; ++j) {
        unsigned other = keys[j] >> shift & (digits - 1);
        before += other < digit || (other == digit && j < i);
    }
    to[before] = keys[i];
}

size_t radix_sort_scratch(int n) { return sizeof(unsigned) * (n + digits); }
void radix_sort(unsigned *keys, int n, void *scratch)
{
    unsigned *before = static_cast<unsigned *>(scratch);
    if (n == 0) return;
    for (int shift = 24; shift >= 0; shift -= 8) {
        cudaMemcpyAsync(before, keys, sizeof(unsigned) * n, cudaMemcpyDeviceToDevice);
        place<<<n / block_size + 1, block_size>>>(before, keys, n, shift);
    }
}

void sort_warps(unsigned *, int) {}

size_t radix_sort_pairs_scratch(int) { return 0; }
void radix_sort_pairs(unsigned *, unsigned *, int, void *) {}

size_t radix_sort_floats_scratch(int) { return 0; }
void radix_sort_floats(float *, int, void *) {}
