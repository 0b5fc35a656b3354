// Fails: small_sort: speed | TOO_SLOW | passes over shared memory per element
// On gpu: may pass - shared memory is fast enough for the gate of time
// Insertion sort of runs that stay in shared memory.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, pitch = run_length + 1;

static __global__ void sort_runs(const float *in, float *out, int n)
{
    __shared__ float staged[block_size * pitch];
    int first = blockIdx.x * block_size * run_length;
    for (int i = threadIdx.x; i < block_size * run_length; i += block_size)
        staged[i + i / run_length] = first + i < n ? in[first + i] : INFINITY;
    __syncthreads();
    float *mine = staged + threadIdx.x * pitch;
    for (int i = 1; i < run_length; ++i) {
        float x = mine[i];
        int at = i;
        for (; at > 0 && mine[at - 1] > x; --at) mine[at] = mine[at - 1];
        mine[at] = x;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < block_size * run_length; i += block_size)
        if (first + i < n) out[first + i] = staged[i + i / run_length];
}

void small_sort(const float *in, float *out, int n)
{
    constexpr int of_block = block_size * run_length;
    if (n > 0) sort_runs<<<(n - 1) / of_block + 1, block_size>>>(in, out, n);
}

// Not begun.
void device_facts(device_facts_t *) {}
void add_to_global(float, float *) {}
void polynomial(const float *, float *, int, const float *, int) {}
void follow(const unsigned char *, const unsigned char *, unsigned char *, int, int) {}
void reverse_blocks(float *, int, int) {}
