// Fails: transpose: speed | TOO_SLOW | bytes moved per element
// On gpu: may pass - the caches keep what a column's fetches bring until all of it is wanted
// Columns are fetched through a texture, and rows are stored.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void turn(cudaTextureObject_t in, float *out, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols) out[i] = tex1Dfetch<float>(in, i % rows * cols + i / rows);
}

void transpose(const float *in, float *out, int rows, int cols)
{
    int n = rows * cols;
    if (n == 0) return;
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = const_cast<float *>(in);
    r.res.linear.desc = cudaCreateChannelDesc<float>();
    r.res.linear.sizeInBytes = sizeof(float) * n;
    cudaTextureDesc d{};
    d.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture = 0;
    cudaCreateTextureObject(&texture, &r, &d, nullptr);
    turn<<<(n + 255) / 256, 256>>>(texture, out, rows, cols);
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
