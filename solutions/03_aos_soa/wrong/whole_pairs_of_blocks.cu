// Fails: drift: a few particles | NOT_WRITTEN | none of them stored
// On gpu: drift: a few particles | NOT_WRITTEN |
// A block moves two blocks' worth of particles, or none where there are not so many.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 128;

layout drift_layout() { return layout::soa; }

static __global__ void move_two_each(float *particles, int n, float dt)
{
    int i = 2 * blockIdx.x * block_size + threadIdx.x;
    if (2 * (blockIdx.x + 1) * block_size > n) return;
    for (int k = 0; k < 2; ++k, i += block_size)
        particles[field_x * n + i] += particles[field_vx * n + i] * dt;
}

void drift(float *particles, int n, float dt)
{
    int blocks = (n + 2 * block_size - 1) / (2 * block_size);
    if (blocks > 0) move_two_each<<<blocks, block_size>>>(particles, n, dt);
}

// Not begun.
layout distance_all_layout() { return layout::aos; }
layout distance_some_layout() { return layout::aos; }
void distance_all(const float *, int, float3, float *) {}
void distance_some(const float *, int, float3, const int *, int, float *) {}
void to_soa(const float *, float *, int) {}
void to_aos(const float *, float *, int) {}
void transpose(const float *, float *, int, int) {}
