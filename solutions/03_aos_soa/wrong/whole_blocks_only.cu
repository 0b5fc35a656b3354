// Fails: to_soa: a few particles | OUT_OF_BOUNDS | past the end of
// The last block handles as many particles as every other.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

static __global__ void split_particles(const float *aos, float *soa, int n)
{
    __shared__ float tile[block_size][fields + 1];
    int first = blockIdx.x * block_size, t = threadIdx.x;
    for (int e = t; e < fields * block_size; e += block_size)
        tile[e / fields][e % fields] = aos[fields * first + e];
    __syncthreads();
    for (int f = 0; f < fields; ++f) soa[n * f + first + t] = tile[t][f];
}

void to_soa(const float *aos, float *soa, int n)
{
    if (n == 0) return;
    split_particles<<<blocks_for(n), block_size>>>(aos, soa, n);
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
