// Fails: polynomial: what is loaded | TOO_SLOW | Copy the degree + 1 coefficients
// The array goes in pieces, and the coefficients are copied before each.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int pieces(int n, int of) { return (n + of - 1) / of; }

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
    constexpr int part = 4096;
    for (int first = 0; first < n; first += part) {
        int count = n - first < part ? n - first : part;
        cudaMemcpyToSymbol(coefficients, coefficients_host, sizeof(float) * (degree + 1));
        evaluate<<<pieces(count, block_size), block_size>>>(x + first, y + first, count, degree);
    }
}

void device_facts(device_facts_t *) {}
void add_to_global(float, float *) {}
void follow(const unsigned char *, const unsigned char *, unsigned char *, int, int) {}
void small_sort(const float *, float *, int) {}
void reverse_blocks(float *, int, int) {}
void transpose(const float *, float *, int, int) {}
void sample_bilinear(const unsigned char *, int, int, const float2 *, float *, int) {}
float *acquire(size_t) { return nullptr; }
void upload(const float *, float *, size_t) {}
void release(float *) {}
size_t sum_mapped_scratch(int) { return 0; }
void sum_mapped(const float *, int, int, double *, void *) {}
void scale_managed(float *, int, float, int) {}
