// Fails: to_soa: sizes around a warp and a block | CUDA_ERROR | of the dynamic shared
// On gpu: to_soa: sizes around a warp and a block | CUDA_ERROR |
// The launch gives the size of the tile in floats.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 128, row = fields + 1;

static __global__ void split_particles(const float *aos, float *soa, int n)
{
    extern __shared__ float tile[];
    int first = blockIdx.x * block_size, here = min(block_size, n - first), t = threadIdx.x;
    for (int e = t; e < here * fields; e += block_size)
        tile[e / fields * row + e % fields] = aos[fields * first + e];
    __syncthreads();
    if (t >= here) return;
    for (int f = 0; f < fields; ++f) soa[n * f + first + t] = tile[t * row + f];
}

void to_soa(const float *aos, float *soa, int n)
{
    int blocks = (n + block_size - 1) / block_size;
    if (n > 0) split_particles<<<blocks, block_size, block_size * row>>>(aos, soa, n);
}

// Not begun.
layout drift_layout() { return layout::aos; }
void drift(float *, int, float) {}
layout distance_all_layout() { return layout::aos; }
void distance_all(const float *, int, float3, float *) {}
layout distance_some_layout() { return layout::aos; }
void distance_some(const float *, int, float3, const int *, int, float *) {}
void to_aos(const float *, float *, int) {}
void transpose(const float *, float *, int, int) {}
