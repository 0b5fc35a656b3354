// Lab 01, rung 1: a memory that kernels only read.
//
// New: the coefficients in constant memory, which gives one address at a time to all lanes. A
// thread has four elements, whose sums are in registers and share each coefficient that is loaded
// (thread coarsening). Unchanged: device_facts, add_to_global, follow, small_sort, reverse_blocks.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

static __constant__ float coefficients[max_coefficients];

constexpr int per_thread = 4; // elements of a polynomial

// A coefficient is loaded once for all elements of a thread.
static __global__ void evaluate(const float *x, float *y, int n, int degree)
{
    int first = blockIdx.x * block_size * per_thread + threadIdx.x;
    float at[per_thread], sum[per_thread];
#pragma unroll
    for (int j = 0; j < per_thread; ++j) {
        int i = first + j * block_size;
        at[j] = i < n ? x[i] : 0;
        sum[j] = coefficients[degree];
    }
    for (int k = degree - 1; k >= 0; --k) {
        float c = coefficients[k];
#pragma unroll
        for (int j = 0; j < per_thread; ++j) sum[j] = sum[j] * at[j] + c;
    }
#pragma unroll
    for (int j = 0; j < per_thread; ++j)
        if (int i = first + j * block_size; i < n) y[i] = sum[j];
}

void polynomial(const float *x, float *y, int n, const float *coefficients_host, int degree)
{
    if (n == 0) return;
    check(cudaMemcpyToSymbol(coefficients, coefficients_host, sizeof(float) * (degree + 1)),
          "cudaMemcpyToSymbol");
    evaluate<<<blocks_for((n + per_thread - 1) / per_thread), block_size>>>(x, y, n, degree);
    check_launch("evaluate");
}
