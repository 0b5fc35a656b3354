// Fails: accelerations: arrays that begin anywhere | RESOURCE_LIMIT | the next call takes more
// On gpu: passes - what a call leaves behind is counted on the simulator alone
// The packed bodies have memory of their own in each call, which is never freed.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 128;

static int blocks_for(int n) { return (n + block_size - 1) / block_size; }

static __global__ void pack(const body *bodies, float4 *points, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    body b = bodies[i];
    points[i] = {b.x, b.y, b.z, b.mass};
}

static __global__ void attract(const float4 *points, float4 *out, int n, float softening)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    float4 at = points[i];
    float3 sum = {0, 0, 0};
    for (int j = 0; j < n; ++j) {
        float4 other = points[j];
        float dx = other.x - at.x, dy = other.y - at.y, dz = other.z - at.z;
        float root = rsqrtf(dx * dx + dy * dy + dz * dz + softening * softening);
        float pull = other.w * root * root * root;
        sum.x += pull * dx, sum.y += pull * dy, sum.z += pull * dz;
    }
    out[i] = {sum.x, sum.y, sum.z, 0};
}

size_t accelerations_scratch(int) { return 0; }

void accelerations(const body *bodies, float4 *out, int n, float softening, void *)
{
    if (n == 0) return;
    float4 *points = nullptr;
    cudaMalloc(&points, sizeof(float4) * n);
    pack<<<blocks_for(n), block_size>>>(bodies, points, n);
    attract<<<blocks_for(n), block_size>>>(points, out, n, softening);
}

// Not begun.
size_t step_scratch(int) { return 0; }
void step(float4 *, float4 *, int, float, float, int, void *) {}
