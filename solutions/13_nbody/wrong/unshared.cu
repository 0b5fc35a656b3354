// Fails: accelerations: speed | TOO_SLOW | sectors per interaction: 0.03
// On gpu: may pass - the caches have what all lanes of a warp want
// A fast formula, and every warp reads all bodies from global memory for itself.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 128;

static int blocks_for(int n) { return (n + block_size - 1) / block_size; }

static __global__ void pack(const body *bodies, float4 *points, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) points[i] = {bodies[i].x, bodies[i].y, bodies[i].z, bodies[i].mass};
}

static __device__ void add_pull(float3 &sum, float4 at, float4 other, float softening2)
{
    float dx = other.x - at.x, dy = other.y - at.y, dz = other.z - at.z;
    float root = rsqrtf(dx * dx + dy * dy + dz * dz + softening2);
    float pull = other.w * root * root * root;
    sum.x += pull * dx, sum.y += pull * dy, sum.z += pull * dz;
}

static __global__ void attract(const float4 *points, float4 *out, int n, float softening2)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    float4 at = points[i];
    float3 sum = {0, 0, 0};
    for (int j = 0; j < n; ++j) add_pull(sum, at, points[j], softening2);
    out[i] = {sum.x, sum.y, sum.z, 0};
}

size_t accelerations_scratch(int n) { return sizeof(float4) * n; }

void accelerations(const body *bodies, float4 *out, int n, float softening, void *scratch)
{
    if (n == 0) return;
    float4 *points = static_cast<float4 *>(scratch);
    pack<<<blocks_for(n), block_size>>>(bodies, points, n);
    attract<<<blocks_for(n), block_size>>>(points, out, n, softening * softening);
}

// Not begun.
size_t step_scratch(int) { return 0; }
void step(float4 *, float4 *, int, float, float, int, void *) {}
