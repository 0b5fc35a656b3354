// Fails: add_to_global: a kernel does it | TOO_SLOW | did not look at the variable
// A kernel adds, and the host returns a sum of its own.
#include "lab.hpp"

#include <cuda_runtime.h>

static __device__ float never_read;

static __global__ void add_one_to_it() { never_read += 1; }

void add_to_global(float start, float *out_host)
{
    cudaMemcpyToSymbol(never_read, &start, sizeof start);
    add_one_to_it<<<1, 1>>>();
    *out_host = start + 1;
}

void device_facts(device_facts_t *) {}
void polynomial(const float *, float *, int, const float *, int) {}
void follow(const unsigned char *, const unsigned char *, unsigned char *, int, int) {}
void small_sort(const float *, float *, int) {}
void reverse_blocks(float *, int, int) {}
