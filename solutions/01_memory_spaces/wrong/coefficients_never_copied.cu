// Fails: polynomial: a few elements | WRONG_ANSWER | if nothing was copied
// The coefficients never come to the device.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 128;

static __constant__ float coefficients[32];

static __global__ void add_powers(const float *x, float *y, int n, int degree)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    float sum = coefficients[degree];
    for (int k = degree - 1; k >= 0; --k) sum = fmaf(sum, x[i], coefficients[k]);
    y[i] = sum;
}

void polynomial(const float *x, float *y, int n, const float *, int degree)
{
    if (n == 0) return;
    add_powers<<<(n + block_size - 1) / block_size, block_size>>>(x, y, n, degree);
}

// Not begun.
void device_facts(device_facts_t *) {}
void add_to_global(float, float *) {}
void follow(const unsigned char *, const unsigned char *, unsigned char *, int, int) {}
void small_sort(const float *, float *, int) {}
void reverse_blocks(float *, int, int) {}
