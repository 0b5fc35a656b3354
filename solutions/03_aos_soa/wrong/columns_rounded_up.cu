// Fails: drift: a few particles | OUT_OF_BOUNDS | What is f multiplied by
// On gpu: drift: a few particles | WRONG_ANSWER | elements
// Columns as long as the grid has threads: they have n floats, whatever the block.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

layout drift_layout() { return layout::soa; }

static __global__ void move_particles(float *particles, int n, float dt)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    int length = gridDim.x * block_size;
    if (i < n) particles[i] += particles[length * field_vx + i] * dt;
}

void drift(float *particles, int n, float dt)
{
    if (n == 0) return;
    move_particles<<<blocks_for(n), block_size>>>(particles, n, dt);
}

// Not begun.
layout distance_all_layout() { return layout::aos; }
layout distance_some_layout() { return layout::aos; }
void distance_all(const float *, int, float3, float *) {}
void distance_some(const float *, int, float3, const int *, int, float *) {}
void to_soa(const float *, float *, int) {}
void to_aos(const float *, float *, int) {}
void transpose(const float *, float *, int, int) {}
