// Lab 13, the time to beat: what a careful beginner writes first. One thread per body, which reads
// all bodies one after the other from their structs and uses the textbook formula.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int n) { return (n + block_size - 1) / block_size; }

// Both kinds of array have positions and masses.
static __device__ float mass_of(const body &b) { return b.mass; }
static __device__ float mass_of(const float4 &b) { return b.w; }

template <class B>
static __global__ void attract_each(const B *bodies, float4 *out, int n, float softening)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    float x = bodies[i].x, y = bodies[i].y, z = bodies[i].z;
    float ax = 0, ay = 0, az = 0;
    for (int j = 0; j < n; ++j) {
        float dx = bodies[j].x - x, dy = bodies[j].y - y, dz = bodies[j].z - z;
        float distance = sqrtf(dx * dx + dy * dy + dz * dz + softening * softening);
        float pull = mass_of(bodies[j]) / (distance * distance * distance);
        ax += pull * dx;
        ay += pull * dy;
        az += pull * dz;
    }
    out[i] = {ax, ay, az, 0};
}

size_t accelerations_scratch(int) { return 0; }

void accelerations(const body *bodies, float4 *out, int n, float softening, void *)
{
    if (n == 0) return;
    attract_each<<<blocks_for(n), block_size>>>(bodies, out, n, softening);
    check_launch("attract_each");
}

static __global__ void kick(float4 *velocity, const float4 *acceleration, int n, float time)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    velocity[i].x += acceleration[i].x * time;
    velocity[i].y += acceleration[i].y * time;
    velocity[i].z += acceleration[i].z * time;
}

static __global__ void drift(float4 *position_mass, const float4 *velocity, int n, float time)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    position_mass[i].x += velocity[i].x * time;
    position_mass[i].y += velocity[i].y * time;
    position_mass[i].z += velocity[i].z * time;
}

// The accelerations.
size_t step_scratch(int n) { return sizeof(float4) * n; }

// The pull after one step is the pull before the next.
void step(float4 *position_mass, float4 *velocity, int n, float softening, float dt, int steps,
          void *scratch)
{
    if (n == 0 || steps == 0) return;
    auto *acceleration = static_cast<float4 *>(scratch);
    attract_each<<<blocks_for(n), block_size>>>(position_mass, acceleration, n, softening);
    for (int s = 0; s < steps; ++s) {
        kick<<<blocks_for(n), block_size>>>(velocity, acceleration, n, dt / 2);
        drift<<<blocks_for(n), block_size>>>(position_mass, velocity, n, dt);
        attract_each<<<blocks_for(n), block_size>>>(position_mass, acceleration, n, softening);
        kick<<<blocks_for(n), block_size>>>(velocity, acceleration, n, dt / 2);
        check_launch("a step");
    }
}
