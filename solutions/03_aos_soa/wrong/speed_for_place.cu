// Fails: distance_all: a few particles | WRONG_ANSWER | Field 8 was taken for y
// y is taken where vx is.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void measure_all(const particle *all, int n, float3 centre, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float dx = all[i].x - centre.x, dy = all[i].vx - centre.y, dz = all[i].z - centre.z;
    out[i] = sqrtf(dx * dx + dy * dy + dz * dz);
}

layout distance_all_layout() { return layout::aos; }
void distance_all(const float *particles, int n, float3 centre, float *out)
{
    if (n == 0) return;
    const particle *all = reinterpret_cast<const particle *>(particles);
    measure_all<<<(n + 255) / 256, 256>>>(all, n, centre, out);
}

// Not begun.
layout drift_layout() { return layout::aos; }
void drift(float *, int, float) {}
layout distance_some_layout() { return layout::aos; }
void distance_some(const float *, int, float3, const int *, int, float *) {}
void to_soa(const float *, float *, int) {}
void to_aos(const float *, float *, int) {}
void transpose(const float *, float *, int, int) {}
