// Fails: distance_some: speed | TOO_SLOW | compulsory bytes per chosen particle
// On gpu: distance_some: speed | TOO_SLOW | times
// One layout for all: a particle far from the others takes one sector of each column.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

layout distance_some_layout() { return layout::soa; }

static __global__ void measure_some(const float *particles, int n, float3 centre, const int *which,
                                    int k, float *out)
{
    int j = blockIdx.x * block_size + threadIdx.x;
    if (j >= k) return;
    int i = which[j];
    float x = particles[n * field_x + i], y = particles[n * field_y + i];
    float z = particles[n * field_z + i];
    float dx = x - centre.x, dy = y - centre.y, dz = z - centre.z;
    out[j] = sqrtf(dx * dx + dy * dy + dz * dz);
}

void distance_some(const float *particles, int n, float3 centre, const int *which, int k,
                   float *out)
{
    if (k == 0) return;
    measure_some<<<blocks_for(k), block_size>>>(particles, n, centre, which, k, out);
}

// Not begun.
layout drift_layout() { return layout::aos; }
layout distance_all_layout() { return layout::aos; }
void drift(float *, int, float) {}
void distance_all(const float *, int, float3, float *) {}
void to_soa(const float *, float *, int) {}
void to_aos(const float *, float *, int) {}
void transpose(const float *, float *, int, int) {}
