// Lab 01, rung 3: registers.
//
// New: odd-even transposition sort (Knuth, volume 3) in place of insertion, so that no index
// depends on data and the run stays in registers.
// Unchanged: device_facts, add_to_global, polynomial, follow, reverse_blocks.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

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
