// Fails: drift: a few particles | WRONG_ANSWER | by vx, without dt
// A step that lasts 1, whatever it is asked to last.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

layout drift_layout() { return layout::soa; }

static __global__ void move_particles(float *particles, int n, float)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) particles[n * field_x + i] += particles[n * field_vx + i];
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
