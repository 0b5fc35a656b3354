// Fails: distance_all: a few particles | WRONG_ANSWER | distances from the origin
// The centre is handed over and not looked at.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

layout distance_all_layout() { return layout::soa; }

static __global__ void measure_all(const float *particles, int n, float3, float *out)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    float x = particles[n * field_x + i], y = particles[n * field_y + i];
    float z = particles[n * field_z + i];
    out[i] = sqrtf(x * x + y * y + z * z);
}

void distance_all(const float *particles, int n, float3 centre, float *out)
{
    if (n == 0) return;
    measure_all<<<blocks_for(n), block_size>>>(particles, n, centre, out);
}

// Not begun.
layout drift_layout() { return layout::aos; }
layout distance_some_layout() { return layout::aos; }
void drift(float *, int, float) {}
void distance_some(const float *, int, float3, const int *, int, float *) {}
void to_soa(const float *, float *, int) {}
void to_aos(const float *, float *, int) {}
void transpose(const float *, float *, int, int) {}
