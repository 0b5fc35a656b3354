// Fails: sort_warps: a few keys | OUT_OF_BOUNDS |
// The mask is __activemask(); a lane that is missing counts as a 0.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static __global__ void sort_runs(unsigned *keys, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x, lane = threadIdx.x % 32;
    if (i >= n) return;
    unsigned key = keys[i], before = (1u << lane) - 1;
    for (int bit = 0; bit < 32; ++bit) {
        bool one = key >> bit & 1;
        unsigned zeros = ~__ballot_sync(__activemask(), one);
        before = one ? before | zeros : before & zeros;
    }
    __syncwarp(__activemask());
    keys[i - lane + __popc(before)] = key;
}

void sort_warps(unsigned *keys, int n)
{
    if (n > 0) sort_runs<<<n / block_size + 1, block_size>>>(keys, n);
}

size_t radix_sort_scratch(int) { return 0; }
void radix_sort(unsigned *, int, void *) {}

size_t radix_sort_pairs_scratch(int) { return 0; }
void radix_sort_pairs(unsigned *, unsigned *, int, void *) {}

size_t radix_sort_floats_scratch(int) { return 0; }
void radix_sort_floats(float *, int, void *) {}
