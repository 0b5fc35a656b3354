// Fails: scale_managed: a few rounds | WRONG_ANSWER | multiplied once, by a power
// The rounds are multiplied together first.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int pieces(int n, int of) { return (n + of - 1) / of; }

static __global__ void scale(float *managed, int n, float factor)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) managed[i] *= factor;
}

void scale_managed(float *managed, int n, float factor, int rounds)
{
    if (n == 0) return;
    float all = 1;
    for (int k = 0; k < rounds; ++k) all *= factor;
    scale<<<pieces(n, block_size), block_size>>>(managed, n, all);
}

// Not begun.
float *acquire(size_t) { return nullptr; }
void upload(const float *, float *, size_t) {}
void release(float *) {}
size_t sum_mapped_scratch(int) { return 0; }
void sum_mapped(const float *, int, int, double *, void *) {}
float time_copy_ms(const float *, float *, size_t, int) { return 0; }
