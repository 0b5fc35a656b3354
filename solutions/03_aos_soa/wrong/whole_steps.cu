// Fails: drift: a few particles | WRONG_ANSWER | as if the step were 0
// On gpu: drift: a few particles | NOT_WRITTEN | dt a float
// The time goes to the kernel in a whole number.
#include "lab.hpp"

#include <cuda_runtime.h>

struct step {
    int particles, time;
};

static __global__ void move_particles(particle *all, step s)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < s.particles) all[i].x += all[i].vx * s.time;
}

layout drift_layout() { return layout::aos; }
void drift(float *particles, int n, float dt)
{
    if (n == 0) return;
    step s = {n, static_cast<int>(dt)};
    move_particles<<<(n + 255) / 256, 256>>>(reinterpret_cast<particle *>(particles), s);
}

// Not begun.
layout distance_all_layout() { return layout::aos; }
void distance_all(const float *, int, float3, float *) {}
layout distance_some_layout() { return layout::aos; }
void distance_some(const float *, int, float3, const int *, int, float *) {}
void to_soa(const float *, float *, int) {}
void to_aos(const float *, float *, int) {}
void transpose(const float *, float *, int, int) {}
