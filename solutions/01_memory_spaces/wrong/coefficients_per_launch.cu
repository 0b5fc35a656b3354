// Fails: polynomial: what is loaded | TOO_SLOW | Copy the degree + 1 coefficients
// On gpu: may pass - a copy of 128 bytes is small against a part of the array
// The array goes in pieces, and the coefficients are copied before each.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, per_thread = 4;

static int pieces(int n, int of) { return (n + of - 1) / of; }

static __constant__ float coefficients[max_coefficients];

static __global__ void evaluate(const float *x, float *y, int n, int degree)
{
    int first = blockIdx.x * block_size * per_thread + threadIdx.x;
    float at[per_thread], sum[per_thread] = {};
#pragma unroll
    for (int j = 0; j < per_thread; ++j) {
        int i = first + j * block_size;
        at[j] = i < n ? x[i] : 0;
    }
    for (int k = degree; k >= 0; --k) {
        float c = coefficients[k];
#pragma unroll
        for (int j = 0; j < per_thread; ++j) sum[j] = sum[j] * at[j] + c;
    }
#pragma unroll
    for (int j = 0; j < per_thread; ++j)
        if (first + j * block_size < n) y[first + j * block_size] = sum[j];
}

void polynomial(const float *x, float *y, int n, const float *coefficients_host, int degree)
{
    constexpr int part = 4096;
    for (int first = 0; first < n; first += part) {
        int count = n - first < part ? n - first : part;
        cudaMemcpyToSymbol(coefficients, coefficients_host, sizeof(float) * (degree + 1));
        evaluate<<<pieces(count, block_size * per_thread), block_size>>>(x + first, y + first,
                                                                         count, degree);
    }
}

void device_facts(device_facts_t *) {}
void add_to_global(float, float *) {}
void follow(const unsigned char *, const unsigned char *, unsigned char *, int, int) {}
void small_sort(const float *, float *, int) {}
void reverse_blocks(float *, int, int) {}
