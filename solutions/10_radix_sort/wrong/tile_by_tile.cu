// Fails: radix_sort: sizes around a tile | WRONG_ANSWER | Each piece of 256 keys
// What lies in other tiles is not counted.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

// A key's place is how many of its block's keys go before it.
static __global__ void sort_tiles(unsigned *keys, int n)
{
    __shared__ unsigned tile[block_size];
    int first = blockIdx.x * block_size, i = first + threadIdx.x, before = 0;
    unsigned key = i < n ? keys[i] : 0xffffffff;
    tile[threadIdx.x] = key;
    __syncthreads();
    for (int j = 0; j < block_size; ++j)
        before += tile[j] < key || (tile[j] == key && j < int(threadIdx.x));
    if (i < n) keys[first + before] = key;
}

size_t radix_sort_scratch(int) { return 0; }
void radix_sort(unsigned *keys, int n, void *)
{
    if (n > 0) sort_tiles<<<n / block_size + 1, block_size>>>(keys, n);
}

void sort_warps(unsigned *, int) {}

size_t radix_sort_pairs_scratch(int) { return 0; }
void radix_sort_pairs(unsigned *, unsigned *, int, void *) {}

size_t radix_sort_floats_scratch(int) { return 0; }
void radix_sort_floats(float *, int, void *) {}
