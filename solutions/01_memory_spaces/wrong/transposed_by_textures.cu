// Fails: transpose: speed | TOO_SLOW | bytes moved an element
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
void device_facts(device_facts_t *) {}
void add_to_global(float, float *) {}
void polynomial(const float *, float *, int, const float *, int) {}
void follow(const unsigned char *, const unsigned char *, unsigned char *, int, int) {}
void small_sort(const float *, float *, int) {}
void reverse_blocks(float *, int, int) {}
void sample_bilinear(const unsigned char *, int, int, const float2 *, float *, int) {}
float *acquire(size_t) { return nullptr; }
void upload(const float *, float *, size_t) {}
void release(float *) {}
size_t sum_mapped_scratch(int) { return 0; }
void sum_mapped(const float *, int, int, double *, void *) {}
void scale_managed(float *, int, float, int) {}
