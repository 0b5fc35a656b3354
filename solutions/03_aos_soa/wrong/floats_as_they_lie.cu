// Fails: to_soa: a few particles | WRONG_ANSWER | in the order they had
// Coalesced on both sides, and no conversion.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

static __global__ void copy_floats(const float *aos, float *soa, int count)
{
    for (int e = blockIdx.x * block_size + threadIdx.x; e < count; e += gridDim.x * block_size)
        soa[e] = aos[e];
}

void to_soa(const float *aos, float *soa, int n)
{
    if (n == 0) return;
    copy_floats<<<blocks_for(n), block_size>>>(aos, soa, fields * n);
}

// Not begun.
layout drift_layout() { return layout::aos; }
layout distance_all_layout() { return layout::aos; }
layout distance_some_layout() { return layout::aos; }
void drift(float *, int, float) {}
void distance_all(const float *, int, float3, float *) {}
void distance_some(const float *, int, float3, const int *, int, float *) {}
void to_aos(const float *, float *, int) {}
void transpose(const float *, float *, int, int) {}
