// Fails: accelerations: a few bodies | WRONG_ANSWER | not a number
// A body's pull on itself: infinitely strong, along a way of 0.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 128;

static int blocks_for(int n) { return (n + block_size - 1) / block_size; }

static __global__ void attract(const body *bodies, float4 *out, int n, float softening)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    float3 a = {0, 0, 0};
    for (int j = 0; j < n; ++j) {
        float dx = bodies[j].x - bodies[i].x, dy = bodies[j].y - bodies[i].y;
        float dz = bodies[j].z - bodies[i].z;
        float d = sqrtf(dx * dx + dy * dy + dz * dz);
        float pull = bodies[j].mass / (d * d * d);
        a.x += pull * dx, a.y += pull * dy, a.z += pull * dz;
    }
    out[i] = {a.x, a.y, a.z, 0};
}

size_t accelerations_scratch(int) { return 0; }

void accelerations(const body *bodies, float4 *out, int n, float softening, void *)
{
    if (n > 0) attract<<<blocks_for(n), block_size>>>(bodies, out, n, softening);
}

// Not begun.
size_t step_scratch(int) { return 0; }
void step(float4 *, float4 *, int, float, float, int, void *) {}
