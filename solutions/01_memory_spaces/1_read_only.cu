// Lab 01, rung 1: memories that kernels only read.
//
// New: the coefficients in constant memory, which gives one address a moment to all lanes; the
// image in a texture, which clamps, filters and scales as it reads.
// Unchanged: device_facts, add_to_global, follow, small_sort, reverse_blocks.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

static __constant__ float coefficients[most_coefficients];

static __global__ void evaluate(const float *x, float *y, int n, int degree)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    float sum = coefficients[degree];
    for (int k = degree - 1; k >= 0; --k) sum = sum * x[i] + coefficients[k];
    y[i] = sum;
}

void polynomial(const float *x, float *y, int n, const float *coefficients_host, int degree)
{
    if (n == 0) return;
    check(cudaMemcpyToSymbol(coefficients, coefficients_host, sizeof(float) * (degree + 1)),
          "cudaMemcpyToSymbol");
    evaluate<<<blocks_for(n), block_size>>>(x, y, n, degree);
    check_launch("evaluate");
}

static __global__ void sample(cudaTextureObject_t texture, const float2 *at, float *out, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    // To the texture unit the centre of the first texel is at 0.5.
    if (i < n) out[i] = tex2D<float>(texture, at[i].x + 0.5f, at[i].y + 0.5f);
}

void sample_bilinear(const unsigned char *image, int width, int height, const float2 *at,
                     float *out, int n)
{
    if (n == 0) return;
    cudaChannelFormatDesc texel = cudaCreateChannelDesc<unsigned char>();
    cudaResourceDesc memory{};
    memory.resType = cudaResourceTypeArray;
    check(cudaMallocArray(&memory.res.array.array, &texel, width, height), "cudaMallocArray");
    check(cudaMemcpy2DToArrayAsync(memory.res.array.array, 0, 0, image, width, width, height,
                                   cudaMemcpyDeviceToDevice),
          "cudaMemcpy2DToArrayAsync");
    cudaTextureDesc how{};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = cudaReadModeNormalizedFloat;
    cudaTextureObject_t texture = 0;
    check(cudaCreateTextureObject(&texture, &memory, &how, nullptr), "cudaCreateTextureObject");
    sample<<<blocks_for(n), block_size>>>(texture, at, out, n);
    check(cudaDeviceSynchronize(), "sample"); // the texture must outlive it
    check(cudaDestroyTextureObject(texture), "cudaDestroyTextureObject");
    check(cudaFreeArray(memory.res.array.array), "cudaFreeArray");
}
