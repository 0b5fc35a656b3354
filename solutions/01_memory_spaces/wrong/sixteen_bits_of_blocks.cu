// Fails: reverse_blocks: pieces of any size | WRONG_ANSWER | number 65535 on stayed
// A warp turns a piece round, and there are only so many blocks of one warp.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void reverse_pieces(float *data, int n, int block)
{
    __shared__ float before[1024];
    int first = blockIdx.x * block, length = min(block, n - first);
    for (int k = threadIdx.x; k < length; k += 32) before[k] = data[first + k];
    __syncwarp();
    for (int k = threadIdx.x; k < length; k += 32) data[first + k] = before[length - 1 - k];
}

void reverse_blocks(float *data, int n, int block)
{
    if (n == 0) return;
    int blocks = min((n + block - 1) / block, 0xffff);
    reverse_pieces<<<blocks, 32>>>(data, n, block);
}

// Not begun.
void device_facts(device_facts_t *) {}
void add_to_global(float, float *) {}
void polynomial(const float *, float *, int, const float *, int) {}
void follow(const unsigned char *, const unsigned char *, unsigned char *, int, int) {}
void small_sort(const float *, float *, int) {}
