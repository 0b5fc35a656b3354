// Fails: polynomial: what is loaded | TOO_SLOW | loads per element
// On gpu: polynomial: what is loaded | TOO_SLOW | times
// Coefficients are fetched through a texture, for each element again.
#include "lab.hpp"

#include <cuda_runtime.h>

#include <cstdint>

// A texture begins at a multiple of 512 bytes; a variable with alignas(512) need not, on an H200.
constexpr int aligned = 512;
static __device__ float storage[max_coefficients + aligned / sizeof(float)];

static __global__ void evaluate(const float *x, float *y, int n, cudaTextureObject_t c, int degree)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float at = x[i], value = 0;
    for (int k = degree; k >= 0; --k) value = value * at + tex1Dfetch<float>(c, k);
    y[i] = value;
}

void polynomial(const float *x, float *y, int n, const float *coefficients_host, int degree)
{
    if (n == 0) return;
    void *begin = nullptr;
    cudaGetSymbolAddress(&begin, storage);
    auto address = (reinterpret_cast<std::uintptr_t>(begin) + aligned - 1) / aligned * aligned;
    auto *coefficients = reinterpret_cast<float *>(address);
    cudaMemcpy(coefficients, coefficients_host, sizeof(float) * (degree + 1), cudaMemcpyDefault);
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = coefficients;
    r.res.linear.desc = cudaCreateChannelDesc<float>();
    r.res.linear.sizeInBytes = sizeof(float) * max_coefficients;
    cudaTextureDesc d{};
    d.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture = 0;
    cudaCreateTextureObject(&texture, &r, &d, nullptr);
    evaluate<<<(n + 255) / 256, 256>>>(x, y, n, texture, degree);
}

// Not begun.
void device_facts(device_facts_t *) {}
void add_to_global(float, float *) {}
void follow(const unsigned char *, const unsigned char *, unsigned char *, int, int) {}
void small_sort(const float *, float *, int) {}
void reverse_blocks(float *, int, int) {}
