// Fails: polynomial: a few elements | WRONG_ANSWER | Only the first two coefficients
// A helper copies as many bytes as what it is given has, which is a pointer.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 128;

static __device__ float series[32];

template <class T> static void send(float *to, const T &values)
{
    cudaMemcpy(to, values, sizeof(values), cudaMemcpyHostToDevice);
}

static __global__ void add_powers(const float *x, float *y, int n, int degree)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    float sum = series[degree];
    for (int k = degree - 1; k >= 0; --k) sum = fmaf(sum, x[i], series[k]);
    y[i] = sum;
}

void polynomial(const float *x, float *y, int n, const float *coefficients_host, int degree)
{
    if (n == 0) return;
    void *to = nullptr;
    cudaGetSymbolAddress(&to, series);
    send(static_cast<float *>(to), coefficients_host);
    add_powers<<<(n + block_size - 1) / block_size, block_size>>>(x, y, n, degree);
}

// Not begun.
void device_facts(device_facts_t *) {}
void add_to_global(float, float *) {}
void follow(const unsigned char *, const unsigned char *, unsigned char *, int, int) {}
void small_sort(const float *, float *, int) {}
void reverse_blocks(float *, int, int) {}
