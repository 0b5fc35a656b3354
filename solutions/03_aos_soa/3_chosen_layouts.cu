// Lab 03, rung 3: each function has its particles in the layout that suits it.
//
// New: distance_some uses structs again. Its particles are far apart: in columns each needs three
// sectors of its own, while x, y and z of a struct share one.
// Unchanged: drift, distance_all, transpose, to_soa, to_aos.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

// A particle is four float4, and begins at a multiple of 16 bytes.
constexpr int quads = fields / 4;

layout distance_some_layout() { return layout::aos; }

static __device__ float distance(float x, float y, float z, float3 centre)
{
    float dx = x - centre.x, dy = y - centre.y, dz = z - centre.z;
    return sqrtf(dx * dx + dy * dy + dz * dz);
}

static __global__ void measure_some(const float4 *particles, float3 centre, const int *which, int k,
                                    float *out)
{
    int j = blockIdx.x * block_size + threadIdx.x;
    if (j >= k) return;
    float4 p = particles[quads * which[j]];
    out[j] = distance(p.x, p.y, p.z, centre);
}

void distance_some(const float *particles, int, float3 centre, const int *which, int k, float *out)
{
    if (k == 0) return;
    measure_some<<<blocks_for(k), block_size>>>(reinterpret_cast<const float4 *>(particles), centre,
                                                which, k, out);
    check_launch("measure_some");
}
