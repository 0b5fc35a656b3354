// Fails: transpose: speed | TOO_SLOW | shared wavefronts over ideal
// On gpu: may pass - the gate of time does not tell conflicts of atomics from others
// A tile without padding, whose columns are stored by atomics: they meet in one bank, too.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void turn(const float *in, float *out, int rows, int cols)
{
    __shared__ float tile[32][32];
    int across = (cols + 31) / 32, r0 = blockIdx.x / across * 32, c0 = blockIdx.x % across * 32,
        x = threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += 8)
        if (r0 + y < rows && c0 + x < cols)
            atomicExch(&tile[x][y], in[size_t(r0 + y) * cols + c0 + x]);
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8)
        if (c0 + y < cols && r0 + x < rows) out[size_t(c0 + y) * rows + r0 + x] = tile[y][x];
}

void transpose(const float *in, float *out, int rows, int cols)
{
    int tiles = (rows + 31) / 32 * ((cols + 31) / 32);
    if (tiles > 0) turn<<<tiles, dim3(32, 8)>>>(in, out, rows, cols);
}

// Not begun.
layout drift_layout() { return layout::aos; }
void drift(float *, int, float) {}
layout distance_all_layout() { return layout::aos; }
void distance_all(const float *, int, float3, float *) {}
layout distance_some_layout() { return layout::aos; }
void distance_some(const float *, int, float3, const int *, int, float *) {}
void to_soa(const float *, float *, int) {}
void to_aos(const float *, float *, int) {}
