// Fails: polynomial: what is loaded | TOO_SLOW | loads per element
// On gpu: polynomial: what is loaded | TOO_SLOW | times
// Coefficients are loaded from shared memory, for each element again.
#include "lab.hpp"

#include <cuda_runtime.h>

static __device__ float coefficients[max_coefficients];

static __global__ void evaluate(const float *x, float *y, int n, int degree)
{
    __shared__ float c[max_coefficients];
    if (threadIdx.x <= degree) c[threadIdx.x] = coefficients[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float at = x[i], value = 0;
    for (int k = degree; k >= 0; --k) value = value * at + c[k];
    y[i] = value;
}

void polynomial(const float *x, float *y, int n, const float *coefficients_host, int degree)
{
    if (n == 0) return;
    cudaMemcpyToSymbol(coefficients, coefficients_host, sizeof(float) * (degree + 1));
    evaluate<<<(n + 255) / 256, 256>>>(x, y, n, degree);
}

// Not begun.
void device_facts(device_facts_t *) {}
void add_to_global(float, float *) {}
void follow(const unsigned char *, const unsigned char *, unsigned char *, int, int) {}
void small_sort(const float *, float *, int) {}
void reverse_blocks(float *, int, int) {}
