// Fails: follow: speed | TOO_SLOW | bytes moved per element
// On gpu: may pass - a table of 256 bytes stays in the L1
// The table lies where no lane waits for another's address: in global memory.
#include "lab.hpp"

#include <cuda_runtime.h>

static __device__ unsigned char table[256];

static __global__ void walk(const unsigned char *start, unsigned char *out, int n, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned char s = start[i];
    for (int k = 0; k < steps; ++k) s = table[s];
    out[i] = s;
}

void follow(const unsigned char *start, const unsigned char *next_host, unsigned char *out, int n,
            int steps)
{
    cudaMemcpyToSymbol(table, next_host, sizeof table);
    if (n > 0) walk<<<(n + 255) / 256, 256>>>(start, out, n, steps);
}

// Not begun.
void device_facts(device_facts_t *) {}
void add_to_global(float, float *) {}
void polynomial(const float *, float *, int, const float *, int) {}
void small_sort(const float *, float *, int) {}
void reverse_blocks(float *, int, int) {}
