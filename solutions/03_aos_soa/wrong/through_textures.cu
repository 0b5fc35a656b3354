// Fails: to_soa: sectors and banks | TOO_SLOW | fetched through textures
// What lies apart is fetched through a texture, and stored where it belongs, side by side.
#include "lab.hpp"

#include <cuda_runtime.h>

static cudaTextureObject_t texture_of(const float *p, size_t n)
{
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = const_cast<float *>(p);
    r.res.linear.desc = cudaCreateChannelDesc<float>();
    r.res.linear.sizeInBytes = n * sizeof(float);
    cudaTextureDesc d{};
    d.readMode = cudaReadModeElementType;
    cudaTextureObject_t t = 0;
    cudaCreateTextureObject(&t, &r, &d, nullptr);
    return t;
}

static __global__ void split(cudaTextureObject_t from, float *soa, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= fields * n) return;
    int field = i / n, particle = i % n;
    soa[i] = tex1Dfetch<float>(from, fields * particle + field);
}

void to_soa(const float *aos, float *soa, int n)
{
    if (n > 0)
        split<<<(fields * n + 255) / 256, 256>>>(texture_of(aos, size_t(fields) * n), soa, n);
}

// Not begun.
layout drift_layout() { return layout::aos; }
layout distance_all_layout() { return layout::aos; }
layout distance_some_layout() { return layout::aos; }
void drift(float *, int, float) {}
void distance_all(const float *, int, float3, float *) {}
void distance_some(const float *, int, float3, const int *, int, float *) {}
void to_aos(const float *, float *, int) {}
void transpose(const float *, float *, int, int) {}
