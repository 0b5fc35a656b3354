// Fails: drift: speed | TOO_SLOW | compulsory bytes per particle: 96
// On gpu: drift: speed | TOO_SLOW | times
// Two fields of sixteen are needed, and both sectors of every particle move.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

layout drift_layout() { return layout::aos; }

static __global__ void move_particles(float *particles, int n, float dt)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) particles[fields * i + field_x] += particles[fields * i + field_vx] * dt;
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
