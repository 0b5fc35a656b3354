// Fails: to_aos: sectors and banks | TOO_SLOW | sectors loaded per particle: 4
// Half the fields at a time are stored, and all are loaded each time.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

static __global__ void join_particles(const float *soa, float *aos, int n)
{
    __shared__ float tile[block_size][fields + 1];
    int first = blockIdx.x * block_size, t = threadIdx.x, count = min(block_size, n - first);
    for (int half = 0; half < 2; ++half) {
        for (int f = 0; f < fields; ++f)
            if (t < count) tile[t][f] = soa[n * f + first + t];
        __syncthreads();
        for (int e = t; e < 8 * count; e += block_size)
            aos[fields * (first + e / 8) + 8 * half + e % 8] = tile[e / 8][8 * half + e % 8];
        __syncthreads();
    }
}

void to_aos(const float *soa, float *aos, int n)
{
    if (n == 0) return;
    join_particles<<<blocks_for(n), block_size>>>(soa, aos, n);
}

// Not begun.
layout drift_layout() { return layout::aos; }
layout distance_all_layout() { return layout::aos; }
layout distance_some_layout() { return layout::aos; }
void drift(float *, int, float) {}
void distance_all(const float *, int, float3, float *) {}
void distance_some(const float *, int, float3, const int *, int, float *) {}
void to_soa(const float *, float *, int) {}
void transpose(const float *, float *, int, int) {}
