// Fails: reverse_blocks: a few pieces | WRONG_ANSWER | The whole array was reversed
// Each thread finds its partner from the ends of the array.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int pieces(int n, int of) { return (n + of - 1) / of; }

static __global__ void swap_ends(float *data, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n / 2) return;
    float x = data[i];
    data[i] = data[n - 1 - i];
    data[n - 1 - i] = x;
}

void reverse_blocks(float *data, int n, int)
{
    if (n == 0) return;
    swap_ends<<<pieces(n, block_size), block_size>>>(data, n);
}

void device_facts(device_facts_t *) {}
void add_to_global(float, float *) {}
void polynomial(const float *, float *, int, const float *, int) {}
void follow(const unsigned char *, const unsigned char *, unsigned char *, int, int) {}
void small_sort(const float *, float *, int) {}
