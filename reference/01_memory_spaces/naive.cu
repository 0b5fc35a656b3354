// Lab 01, the time to beat: every function right, and each variable where it is easiest to put.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <cstring>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

void device_facts(device_facts_t *out_host)
{
    cudaDeviceProp p;
    int device = 0;
    check(cudaGetDeviceCount(&out_host->devices), "cudaGetDeviceCount");
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaGetDeviceProperties(&p, device), "cudaGetDeviceProperties");
    std::memcpy(out_host->name, p.name, sizeof out_host->name);
    out_host->multiprocessors = p.multiProcessorCount;
    out_host->max_threads_per_block = p.maxThreadsPerBlock;
    out_host->shared_per_block = p.sharedMemPerBlock;
    out_host->constant_memory = p.totalConstMem;
    out_host->l2 = p.l2CacheSize;
    out_host->warp_size = p.warpSize;
    out_host->copy_engines = p.asyncEngineCount;
}

static __device__ float in_global;

static __global__ void add_one() { in_global += 1; }

void add_to_global(float start, float *out_host)
{
    check(cudaMemcpyToSymbol(in_global, &start, sizeof start), "cudaMemcpyToSymbol");
    add_one<<<1, 1>>>();
    check(cudaMemcpyFromSymbol(out_host, in_global, sizeof *out_host), "cudaMemcpyFromSymbol");
}

static __device__ float coefficients[max_coefficients];

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

static __constant__ unsigned char next_state[256];

static __global__ void walk(const unsigned char *start, unsigned char *out, int n, int steps)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    unsigned char state = start[i];
    for (int k = 0; k < steps; ++k) state = next_state[state];
    out[i] = state;
}

void follow(const unsigned char *start, const unsigned char *next_host, unsigned char *out, int n,
            int steps)
{
    if (n == 0) return;
    check(cudaMemcpyToSymbol(next_state, next_host, 256), "cudaMemcpyToSymbol");
    walk<<<blocks_for(n), block_size>>>(start, out, n, steps);
    check_launch("walk");
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

// Insertion asks the data where to go, so the run has addresses: it lies in local memory.
static __global__ void sort_runs(const float *in, float *out, int n)
{
    __shared__ float staged[block_size * pitch];
    bring_runs(in, n, staged);
    float run[run_length], *mine = staged + threadIdx.x * pitch;
    for (int i = 0; i < run_length; ++i) {
        float x = mine[i];
        int at = i;
        for (; at > 0 && run[at - 1] > x; --at) run[at] = run[at - 1];
        run[at] = x;
    }
    for (int i = 0; i < run_length; ++i) mine[i] = run[i];
    take_runs(staged, out, n);
}

void small_sort(const float *in, float *out, int n)
{
    if (n == 0) return;
    sort_runs<<<blocks_for((n + run_length - 1) / run_length), block_size>>>(in, out, n);
    check_launch("sort_runs");
}

// A block a piece; its threads change the places of two elements each.
static __global__ void swap_ends(float *data, int n, int block)
{
    int first = blockIdx.x * block, length = min(block, n - first);
    for (int i = threadIdx.x; i < length / 2; i += block_size) {
        float x = data[first + i];
        data[first + i] = data[first + length - 1 - i];
        data[first + length - 1 - i] = x;
    }
}

void reverse_blocks(float *data, int n, int block)
{
    if (n == 0) return;
    swap_ends<<<(n + block - 1) / block, block_size>>>(data, n, block);
    check_launch("swap_ends");
}
