// Lab 01, rung 3: registers.
//
// New: odd-even transposition sort (Knuth, volume 3) in place of insertion, so that no index
// depends on data and the run stays in registers; four elements of a polynomial per thread, which
// share each coefficient that is loaded (thread coarsening).
// Unchanged: device_facts, add_to_global, follow, reverse_blocks, sample_bilinear.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

static __constant__ float coefficients[most_coefficients];

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

// In shared memory a run takes 17 floats, so that 32 lanes, each in its own run, find their
// elements in 32 banks.
constexpr int pitch = run_length + 1;

// Brings the block's runs to shared memory, neighbours by neighbouring lanes; beyond n there is
// INFINITY, which stays behind the others.
static __device__ void bring_runs(const float *in, int n, float *staged)
{
    int first = blockIdx.x * block_size * run_length;
    for (int i = threadIdx.x; i < block_size * run_length; i += block_size)
        staged[i + i / run_length] = first + i < n ? in[first + i] : INFINITY;
    __syncthreads();
}

static __device__ void take_runs(const float *staged, float *out, int n)
{
    int first = blockIdx.x * block_size * run_length;
    __syncthreads();
    for (int i = threadIdx.x; i < block_size * run_length; i += block_size)
        if (first + i < n) out[first + i] = staged[i + i / run_length];
}

// Odd-even transposition: which elements meet depends on no data. Once the loops are unrolled every
// index is a constant, and the run is 16 registers.
static __device__ void sort_run(float (&run)[run_length])
{
#pragma unroll
    for (int round = 0; round < run_length; ++round)
#pragma unroll
        for (int i = round % 2; i + 1 < run_length; i += 2) {
            float low = fminf(run[i], run[i + 1]), high = fmaxf(run[i], run[i + 1]);
            run[i] = low;
            run[i + 1] = high;
        }
}

static __global__ void sort_runs(const float *in, float *out, int n)
{
    __shared__ float staged[block_size * pitch];
    bring_runs(in, n, staged);
    float run[run_length], *mine = staged + threadIdx.x * pitch;
#pragma unroll
    for (int i = 0; i < run_length; ++i) run[i] = mine[i];
    sort_run(run);
#pragma unroll
    for (int i = 0; i < run_length; ++i) mine[i] = run[i];
    take_runs(staged, out, n);
}

void small_sort(const float *in, float *out, int n)
{
    if (n == 0) return;
    sort_runs<<<blocks_for((n + run_length - 1) / run_length), block_size>>>(in, out, n);
    check_launch("sort_runs");
}
