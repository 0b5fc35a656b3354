// Fails: to_aos: sectors and banks | TOO_SLOW | used by stores: 12.5 %
// One thread per particle: it stores neighbours one after the other, the lanes store far apart.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

static __global__ void join_particles(const float *soa, float *aos, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    for (int f = 0; f < fields; ++f) aos[fields * i + f] = soa[n * f + i];
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
