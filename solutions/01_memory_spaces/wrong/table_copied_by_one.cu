// Fails: follow: speed | TOO_SLOW | One thread copies a block's table alone
// On gpu: may pass - the table stays in the L1, and only the simulator counts who copies it
// One thread of a block brings the whole table, an entry at a time.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int pieces(int n, int of) { return (n + of - 1) / of; }

static __device__ unsigned char next_state[256];

static __global__ void walk(const unsigned char *start, unsigned char *out, int n, int steps)
{
    __shared__ unsigned char table[256];
    if (threadIdx.x == 0)
        for (int k = 0; k < 256; ++k) table[k] = next_state[k];
    __syncthreads();
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    unsigned char state = start[i];
    for (int k = 0; k < steps; ++k) state = table[state];
    out[i] = state;
}

void follow(const unsigned char *start, const unsigned char *next_host, unsigned char *out, int n,
            int steps)
{
    if (n == 0) return;
    cudaMemcpyToSymbol(next_state, next_host, sizeof next_state);
    walk<<<pieces(n, block_size), block_size>>>(start, out, n, steps);
}

void device_facts(device_facts_t *) {}
void add_to_global(float, float *) {}
void polynomial(const float *, float *, int, const float *, int) {}
void small_sort(const float *, float *, int) {}
void reverse_blocks(float *, int, int) {}
