// Lab 01, rung 2: shared memory.
//
// New: `table`, in which each lane of a walk reads an address of its own.
// Unchanged: device_facts, reverse_blocks, add_to_global, polynomial, small_sort.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

static __device__ unsigned char next_state[256];

static __global__ void walk(const unsigned char *start, unsigned char *out, int n, int steps)
{
    __shared__ unsigned char table[256]; // one entry per thread
    table[threadIdx.x] = next_state[threadIdx.x];
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
    check(cudaMemcpyToSymbol(next_state, next_host, 256), "cudaMemcpyToSymbol");
    walk<<<blocks_for(n), block_size>>>(start, out, n, steps);
    check_launch("walk");
}
