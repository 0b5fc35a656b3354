// Fails: drift: sizes around a warp and a block | RACE | does a block begin where
// On gpu: may pass - most loads of both come before either stores
// A block begins in the middle of the one before it.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static __global__ void move_particles(float *particles, int n, float dt)
{
    int i = blockIdx.x * block_size / 2 + threadIdx.x;
    if (i < n) particles[n * field_x + i] += particles[n * field_vx + i] * dt;
}

layout drift_layout() { return layout::soa; }
void drift(float *particles, int n, float dt)
{
    if (n > 0) move_particles<<<2 * ((n + 255) / 256), block_size>>>(particles, n, dt);
}

// Not begun.
layout distance_all_layout() { return layout::aos; }
void distance_all(const float *, int, float3, float *) {}
layout distance_some_layout() { return layout::aos; }
void distance_some(const float *, int, float3, const int *, int, float *) {}
void to_soa(const float *, float *, int) {}
void to_aos(const float *, float *, int) {}
void transpose(const float *, float *, int, int) {}
