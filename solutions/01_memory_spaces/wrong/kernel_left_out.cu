// Fails: add_to_global: one more | WRONG_ANSWER | nothing was added
// The variable is set and read back, and no kernel runs between.
#include "lab.hpp"

#include <cuda_runtime.h>

static __device__ float in_global;

void add_to_global(float start, float *out_host)
{
    cudaMemcpyToSymbol(in_global, &start, sizeof start);
    cudaMemcpyFromSymbol(out_host, in_global, sizeof *out_host);
}

void device_facts(device_facts_t *) {}
void polynomial(const float *, float *, int, const float *, int) {}
void follow(const unsigned char *, const unsigned char *, unsigned char *, int, int) {}
void small_sort(const float *, float *, int) {}
void reverse_blocks(float *, int, int) {}
