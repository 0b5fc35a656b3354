// Fails: scale_columns: speed | TOO_SLOW | bytes by textures
// On gpu: scale_columns: speed | TOO_SLOW |
// A row a thread, through a texture and by atomics; the loads that are counted are of a kernel that
// does nothing.
#include "lab.hpp"

#include <cuda_runtime.h>

static cudaTextureObject_t texture_of(const float *p, int n)
{
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = const_cast<float *>(p);
    r.res.linear.desc = cudaCreateChannelDesc<float>();
    r.res.linear.sizeInBytes = size_t(n) * sizeof(float);
    cudaTextureDesc d{};
    d.readMode = cudaReadModeElementType;
    cudaTextureObject_t t = 0;
    cudaCreateTextureObject(&t, &r, &d, nullptr);
    return t;
}

static __global__ void look(const float *in, int n, int *pit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] == 1234.5678f) *pit = 0;
}

static __global__ void scale_rows(cudaTextureObject_t in, unsigned *out, int rows, int cols,
                                  cudaTextureObject_t factor)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    for (int col = 0; col < cols; ++col) {
        int i = row * cols + col;
        atomicExch(out + i,
                   __float_as_uint(tex1Dfetch<float>(in, i) * tex1Dfetch<float>(factor, col)));
    }
}

void scale_columns(const float *in, float *out, int rows, int cols, const float *factor)
{
    int n = rows * cols;
    if (n == 0) return;
    static int *pit;
    if (!pit) cudaMalloc(&pit, sizeof(int));
    for (int k = 0; k < 2; ++k) look<<<(n + 255) / 256, 256>>>(in, n, pit);
    scale_rows<<<(rows + 255) / 256, 256>>>(texture_of(in, n), reinterpret_cast<unsigned *>(out),
                                            rows, cols, texture_of(factor, cols));
}

// Not begun.
void read_offset(const float *, const float *, float *, int, int) {}
void write_offset(const float *, const float *, float *, int, int) {}
void add_unrolled(const float *, const float *, float *, int) {}
void predict(const access_pattern *, prediction *, int) {}
