// Fails: reverse_blocks: pieces of any size | LAUNCH_FAILED | 65535 blocks in y
// On gpu: reverse_blocks: pieces of any size | LAUNCH_FAILED | 65535
// The pieces are the rows of the grid.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int max_threads = 1024;

static __global__ void reverse_pieces(float *data, int n, int block)
{
    __shared__ float before[max_threads];
    int first = blockIdx.y * block, length = min(block, n - first), k = threadIdx.x;
    if (k < length) before[k] = data[first + k];
    __syncthreads();
    if (k < length) data[first + k] = before[length - 1 - k];
}

void reverse_blocks(float *data, int n, int block)
{
    if (n == 0) return;
    dim3 grid(1, (n + block - 1) / block);
    reverse_pieces<<<grid, max_threads>>>(data, n, block);
}

// Not begun.
void device_facts(device_facts_t *) {}
void add_to_global(float, float *) {}
void polynomial(const float *, float *, int, const float *, int) {}
void follow(const unsigned char *, const unsigned char *, unsigned char *, int, int) {}
void small_sort(const float *, float *, int) {}
