// Fails: to_aos: a few particles | PARTIALLY_WRITTEN | all of column 0 of 16
// The fields are counted from 1.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void join_particles(const float *soa, float *aos, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int f = 1; f < fields; ++f) aos[fields * i + f] = soa[n * f + i];
}

void to_aos(const float *soa, float *aos, int n)
{
    if (n > 0) join_particles<<<(n + 255) / 256, 256>>>(soa, aos, n);
}

// Not begun.
layout drift_layout() { return layout::aos; }
void drift(float *, int, float) {}
layout distance_all_layout() { return layout::aos; }
void distance_all(const float *, int, float3, float *) {}
layout distance_some_layout() { return layout::aos; }
void distance_some(const float *, int, float3, const int *, int, float *) {}
void to_soa(const float *, float *, int) {}
void transpose(const float *, float *, int, int) {}
