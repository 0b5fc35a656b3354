// Lab 03, rung 1: structs as in naive, but read and written 16 bytes at a time.
//
// New: float4 where more than one field of four is needed: in the distances, and in the
// conversions, which now need four requests instead of sixteen on the side of the structs. drift
// needs two fields from different sectors: a wider load would move nothing that it uses.
// Unchanged: drift, transpose.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

// A particle is four float4, and begins at a multiple of 16 bytes.
constexpr int quads = fields / 4;

layout distance_all_layout() { return layout::aos; }
layout distance_some_layout() { return layout::aos; }

static __device__ float distance(float x, float y, float z, float3 centre)
{
    float dx = x - centre.x, dy = y - centre.y, dz = z - centre.z;
    return sqrtf(dx * dx + dy * dy + dz * dz);
}

static __global__ void measure_all(const float4 *particles, int n, float3 centre, float *out)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    float4 p = particles[quads * i];
    out[i] = distance(p.x, p.y, p.z, centre);
}

void distance_all(const float *particles, int n, float3 centre, float *out)
{
    if (n == 0) return;
    measure_all<<<blocks_for(n), block_size>>>(reinterpret_cast<const float4 *>(particles), n,
                                               centre, out);
    check_launch("measure_all");
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

static __global__ void split_particles(const float4 *aos, float *soa, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    for (int q = 0; q < quads; ++q) {
        float4 four = aos[quads * i + q];
        float *to = soa + n * (4 * q) + i;
        to[0] = four.x;
        to[n] = four.y;
        to[2 * n] = four.z;
        to[3 * n] = four.w;
    }
}

void to_soa(const float *aos, float *soa, int n)
{
    if (n == 0) return;
    split_particles<<<blocks_for(n), block_size>>>(reinterpret_cast<const float4 *>(aos), soa, n);
    check_launch("split_particles");
}

static __global__ void join_particles(const float *soa, float4 *aos, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    for (int q = 0; q < quads; ++q) {
        const float *from = soa + n * (4 * q) + i;
        aos[quads * i + q] = {from[0], from[n], from[2 * n], from[3 * n]};
    }
}

void to_aos(const float *soa, float *aos, int n)
{
    if (n == 0) return;
    join_particles<<<blocks_for(n), block_size>>>(soa, reinterpret_cast<float4 *>(aos), n);
    check_launch("join_particles");
}
