// Fails: add_to_global: one more | NONDETERMINISTIC | with the same inputs
// Only the first call sets the variable, which outlives every call.
#include "lab.hpp"

#include <cuda_runtime.h>

static __device__ float in_global;
static __global__ void add_one() { in_global += 1; }

void add_to_global(float start, float *out_host)
{
    static bool set = false;
    if (!set) cudaMemcpyToSymbol(in_global, &start, sizeof start);
    set = true;
    add_one<<<1, 1>>>();
    cudaMemcpyFromSymbol(out_host, in_global, sizeof *out_host);
}

void device_facts(device_facts_t *) {}
void polynomial(const float *, float *, int, const float *, int) {}
void follow(const unsigned char *, const unsigned char *, unsigned char *, int, int) {}
void small_sort(const float *, float *, int) {}
void reverse_blocks(float *, int, int) {}
