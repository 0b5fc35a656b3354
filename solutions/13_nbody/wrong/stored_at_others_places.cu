// Fails: accelerations: a few bodies | WRONG_ANSWER | belongs to another
// Two bodies per thread: side by side where they are read, a block apart where they are stored.
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
    int first = blockIdx.x * block_size * 2;
    for (int b = 0; b < 2; ++b) {
        int from = first + 2 * threadIdx.x + b, to = first + b * block_size + threadIdx.x;
        if (to >= n) return;
        float4 at = points[min(from, n - 1)];
        float3 sum = {0, 0, 0};
        for (int j = 0; j < n; ++j) {
            float4 other = points[j];
            float dx = other.x - at.x, dy = other.y - at.y, dz = other.z - at.z;
            float root = rsqrtf(dx * dx + dy * dy + dz * dz + softening * softening);
            float pull = other.w * root * root * root;
            sum.x += pull * dx, sum.y += pull * dy, sum.z += pull * dz;
        }
        out[to] = {sum.x, sum.y, sum.z, 0};
    }
}

size_t accelerations_scratch(int n) { return sizeof(float4) * n; }

void accelerations(const body *bodies, float4 *out, int n, float softening, void *scratch)
{
    if (n == 0) return;
    float4 *points = static_cast<float4 *>(scratch);
    pack<<<blocks_for(n), block_size>>>(bodies, points, n);
    attract<<<blocks_for(n), block_size>>>(points, out, n, softening);
}

// Not begun.
size_t step_scratch(int) { return 0; }
void step(float4 *, float4 *, int, float, float, int, void *) {}
