// Fails: drift: speed | TOO_SLOW | One block does nearly all
// On gpu: drift: speed | TOO_SLOW | times
// Particles lie in columns, and one block goes through all of them.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 1024;

layout drift_layout() { return layout::soa; }
layout distance_all_layout() { return layout::soa; }

static __global__ void move(float *x, const float *vx, int n, float dt)
{
    for (int i = threadIdx.x; i < n; i += block_size) x[i] += vx[i] * dt;
}

void drift(float *particles, int n, float dt)
{
    if (n > 0) move<<<1, block_size>>>(particles, particles + size_t(field_vx) * n, n, dt);
}

static __global__ void measure(const float *particles, int n, float3 centre, float *out)
{
    for (int i = threadIdx.x; i < n; i += block_size) {
        float dx = particles[i] - centre.x, dy = particles[n + i] - centre.y;
        float dz = particles[2 * n + i] - centre.z;
        out[i] = sqrtf(dx * dx + dy * dy + dz * dz);
    }
}

void distance_all(const float *particles, int n, float3 centre, float *out)
{
    if (n > 0) measure<<<1, block_size>>>(particles, n, centre, out);
}

// Not begun.
layout distance_some_layout() { return layout::aos; }
void distance_some(const float *, int, float3, const int *, int, float *) {}
void to_soa(const float *, float *, int) {}
void to_aos(const float *, float *, int) {}
void transpose(const float *, float *, int, int) {}
