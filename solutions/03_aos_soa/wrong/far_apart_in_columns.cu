// Fails: drift: speed | TOO_SLOW | neighbouring lanes handle neighbouring
// On gpu: drift: speed | TOO_SLOW | times
// Particles lie in columns, and neighbouring lanes take particles far apart.
#include "lab.hpp"

#include <cuda_runtime.h>

layout drift_layout() { return layout::soa; }
layout distance_all_layout() { return layout::soa; }

// The particle of a thread: those of a warp are `part` apart.
static __device__ int particle_of_thread(int part)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    return i % 32 * part + i / 32;
}

static int part_of(int n) { return (n + 31) / 32; }
static int blocks_for(int n) { return (32 * part_of(n) + 255) / 256; }

static __global__ void move(float *x, const float *vx, int n, int part, float dt)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x, i = particle_of_thread(part);
    if (k / 32 < part && i < n) x[i] += vx[i] * dt;
}

void drift(float *particles, int n, float dt)
{
    if (n == 0) return;
    const float *vx = particles + size_t(field_vx) * n;
    move<<<blocks_for(n), 256>>>(particles, vx, n, part_of(n), dt);
}

static __global__ void measure(const float *particles, int n, int part, float3 centre, float *out)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x, i = particle_of_thread(part);
    if (k / 32 >= part || i >= n) return;
    float dx = particles[i] - centre.x, dy = particles[n + i] - centre.y;
    float dz = particles[2 * n + i] - centre.z;
    out[i] = sqrtf(dx * dx + dy * dy + dz * dz);
}

void distance_all(const float *particles, int n, float3 centre, float *out)
{
    if (n > 0) measure<<<blocks_for(n), 256>>>(particles, n, part_of(n), centre, out);
}

// Not begun.
layout distance_some_layout() { return layout::aos; }
void distance_some(const float *, int, float3, const int *, int, float *) {}
void to_soa(const float *, float *, int) {}
void to_aos(const float *, float *, int) {}
void transpose(const float *, float *, int, int) {}
