// Fails: accelerations: near, far, and at the same place | WRONG_ANSWER | largest float
// The cube of the squared distance has no place in a float where bodies are far apart.
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
        float square = dx * dx + dy * dy + dz * dz + softening * softening;
        float pull = bodies[j].mass * rsqrtf(square * square * square);
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
