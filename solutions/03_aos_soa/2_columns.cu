// Lab 03, rung 2: each field is an array of its own, for every function.
//
// New: columns. drift and distance_all now move only the fields they need; distance_some moves more
// than before.
// Unchanged: transpose, to_soa, to_aos.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

layout drift_layout() { return layout::soa; }
layout distance_all_layout() { return layout::soa; }
layout distance_some_layout() { return layout::soa; }

static __global__ void move_particles(float *x, const float *vx, int n, float dt)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) x[i] += vx[i] * dt;
}

// A field is an array of its own: the kernel needs two of sixteen.
void drift(float *particles, int n, float dt)
{
    if (n == 0) return;
    move_particles<<<blocks_for(n), block_size>>>(particles + n * field_x, particles + n * field_vx,
                                                  n, dt);
    check_launch("move_particles");
}

static __device__ float distance(float x, float y, float z, float3 centre)
{
    float dx = x - centre.x, dy = y - centre.y, dz = z - centre.z;
    return sqrtf(dx * dx + dy * dy + dz * dz);
}

static __global__ void measure_all(const float *particles, int n, float3 centre, float *out)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    out[i] = distance(particles[n * field_x + i], particles[n * field_y + i],
                      particles[n * field_z + i], centre);
}

void distance_all(const float *particles, int n, float3 centre, float *out)
{
    if (n == 0) return;
    measure_all<<<blocks_for(n), block_size>>>(particles, n, centre, out);
    check_launch("measure_all");
}

static __global__ void measure_some(const float *particles, int n, float3 centre, const int *which,
                                    int k, float *out)
{
    int j = blockIdx.x * block_size + threadIdx.x;
    if (j >= k) return;
    int i = which[j];
    out[j] = distance(particles[n * field_x + i], particles[n * field_y + i],
                      particles[n * field_z + i], centre);
}

void distance_some(const float *particles, int n, float3 centre, const int *which, int k,
                   float *out)
{
    if (k == 0) return;
    measure_some<<<blocks_for(k), block_size>>>(particles, n, centre, which, k, out);
    check_launch("measure_some");
}
