// Fails: reverse_blocks: a shorter piece at the end | RACE | __syncthreads() is missing between the store
// On gpu: may pass - a warp that is fast enough has written before another reads
// Only the lanes of a warp wait for each other, and pieces are longer.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int pieces(int n, int of) { return (n + of - 1) / of; }

static __global__ void reverse_pieces(float *data, int n, int block)
{
    __shared__ float before[1024];
    int first = blockIdx.x * block, length = min(block, n - first);
    for (int i = threadIdx.x; i < length; i += block_size) before[i] = data[first + i];
    __syncwarp();
    for (int i = threadIdx.x; i < length; i += block_size) data[first + i] = before[length - 1 - i];
}

void reverse_blocks(float *data, int n, int block)
{
    if (n == 0) return;
    reverse_pieces<<<pieces(n, block), block_size>>>(data, n, block);
}

void device_facts(device_facts_t *) {}
void add_to_global(float, float *) {}
void polynomial(const float *, float *, int, const float *, int) {}
void follow(const unsigned char *, const unsigned char *, unsigned char *, int, int) {}
void small_sort(const float *, float *, int) {}
