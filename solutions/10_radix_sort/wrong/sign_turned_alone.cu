// Fails: radix_sort_floats: a few numbers | WRONG_ANSWER | the order is reversed
// Only the sign bit is changed.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

// A key's place is how many go before it.
static __global__ void place(const unsigned *keys, unsigned *to, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x, before = 0;
    if (i >= n) return;
    for (int j = 0; j < n; ++j) {
        unsigned key = keys[i] ^ 0x80000000, other = keys[j] ^ 0x80000000;
        before += other < key || (other == key && j < i);
    }
    to[before] = keys[i];
}

size_t radix_sort_floats_scratch(int n) { return sizeof(unsigned) * n; }
void radix_sort_floats(float *keys, int n, void *scratch)
{
    unsigned *before = static_cast<unsigned *>(scratch);
    cudaMemcpyAsync(before, keys, sizeof(unsigned) * n, cudaMemcpyDeviceToDevice);
    if (n > 0)
        place<<<n / block_size + 1, block_size>>>(before, reinterpret_cast<unsigned *>(keys), n);
}

void sort_warps(unsigned *, int) {}

size_t radix_sort_scratch(int) { return 0; }
void radix_sort(unsigned *, int, void *) {}

size_t radix_sort_pairs_scratch(int) { return 0; }
void radix_sort_pairs(unsigned *, unsigned *, int, void *) {}
