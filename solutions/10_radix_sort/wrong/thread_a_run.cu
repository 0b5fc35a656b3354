// Fails: sort_warps: speed | TOO_SLOW | used by loads: 12.5 %
// On gpu: sort_warps: speed | TOO_SLOW | times
// As naive: each lane goes through a run of its own.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static __global__ void sort_runs(unsigned *keys, int n)
{
    int first = 32 * (blockIdx.x * block_size + threadIdx.x), last = min(first + 32, n);
    for (int i = first + 1; i < last; ++i) {
        unsigned key = keys[i];
        int to = i;
        for (; to > first && keys[to - 1] > key; --to) keys[to] = keys[to - 1];
        keys[to] = key;
    }
}

void sort_warps(unsigned *keys, int n)
{
    if (n > 0) sort_runs<<<n / 32 / block_size + 1, block_size>>>(keys, n);
}

size_t radix_sort_scratch(int) { return 0; }
void radix_sort(unsigned *, int, void *) {}

size_t radix_sort_pairs_scratch(int) { return 0; }
void radix_sort_pairs(unsigned *, unsigned *, int, void *) {}

size_t radix_sort_floats_scratch(int) { return 0; }
void radix_sort_floats(float *, int, void *) {}
