// Fails: distance_all: a few particles | OUT_OF_BOUNDS | is none of those to spare
// On gpu: distance_all: a few particles | OUT_OF_BOUNDS |
// The result is indexed as the particles are.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void measure_all(const float *particles, int n, float3 centre, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float *p = particles + fields * i;
    float dx = p[field_x] - centre.x, dy = p[field_y] - centre.y, dz = p[field_z] - centre.z;
    out[fields * i] = sqrtf(dx * dx + dy * dy + dz * dz);
}

layout distance_all_layout() { return layout::aos; }
void distance_all(const float *particles, int n, float3 centre, float *out)
{
    if (n > 0) measure_all<<<(n + 255) / 256, 256>>>(particles, n, centre, out);
}

// Not begun.
layout drift_layout() { return layout::aos; }
void drift(float *, int, float) {}
layout distance_some_layout() { return layout::aos; }
void distance_some(const float *, int, float3, const int *, int, float *) {}
void to_soa(const float *, float *, int) {}
void to_aos(const float *, float *, int) {}
void transpose(const float *, float *, int, int) {}
