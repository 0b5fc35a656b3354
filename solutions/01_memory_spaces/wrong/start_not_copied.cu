// Fails: add_to_global: one more | WRONG_ANSWER | the start value did not come
// The variable on the device is never set.
#include "lab.hpp"

#include <cuda_runtime.h>

static __device__ float in_global;

static __global__ void add_one_to_it() { in_global += 1; }

void add_to_global(float, float *out_host)
{
    add_one_to_it<<<1, 1>>>();
    cudaMemcpyFromSymbol(out_host, in_global, sizeof *out_host);
}

// Not begun.
void device_facts(device_facts_t *) {}
void polynomial(const float *, float *, int, const float *, int) {}
void follow(const unsigned char *, const unsigned char *, unsigned char *, int, int) {}
void small_sort(const float *, float *, int) {}
void reverse_blocks(float *, int, int) {}
