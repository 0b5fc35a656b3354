// Fails: follow: sizes and places | OUT_OF_BOUNDS | just past the end
// On gpu: may pass - what lies behind the table may be readable
// The entries of the table are copied by the thread's number in the grid.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int pieces(int n, int of) { return (n + of - 1) / of; }

static __device__ unsigned char next_state[256];

static __global__ void walk(const unsigned char *start, unsigned char *out, int n, int steps)
{
    __shared__ unsigned char table[256];
    int i = blockIdx.x * block_size + threadIdx.x;
    table[i] = next_state[i];
    __syncthreads();
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

// Not begun.
void device_facts(device_facts_t *) {}
void add_to_global(float, float *) {}
void polynomial(const float *, float *, int, const float *, int) {}
void small_sort(const float *, float *, int) {}
void reverse_blocks(float *, int, int) {}
