// Lab 01: the stub with lines added and none changed. Right everywhere, and each variable where it
// belongs.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>

constexpr int block_size = 256;

static int pieces(size_t n, size_t of) { return static_cast<int>((n + of - 1) / of); }

void device_facts(device_facts_t *out_host)
{
    cudaDeviceProp device{};
    check(cudaGetDeviceCount(&out_host->devices), "cudaGetDeviceCount");
    int current = 0;
    check(cudaGetDevice(&current), "cudaGetDevice");
    check(cudaGetDeviceProperties(&device, current), "cudaGetDeviceProperties");
    std::copy(device.name, device.name + sizeof device.name, out_host->name);
    out_host->multiprocessors = device.multiProcessorCount;
    out_host->max_threads_per_block = device.maxThreadsPerBlock;
    out_host->shared_per_block = device.sharedMemPerBlock;
    out_host->constant_memory = device.totalConstMem;
    out_host->l2 = device.l2CacheSize;
    out_host->warp_size = device.warpSize;
    out_host->copy_engines = device.asyncEngineCount;
}

// A variable in device memory, as long as the program runs; every kernel of this
// file can use it by its name, and the host by the calls that take a symbol.
static __device__ float in_global;

static __global__ void add_one() { in_global += 1; }

void add_to_global(float start, float *out_host)
{
    check(cudaMemcpyToSymbol(in_global, &start, sizeof start), "cudaMemcpyToSymbol");
    add_one<<<1, 1>>>();
    check_launch("add_one");
    check(cudaMemcpyFromSymbol(out_host, in_global, sizeof *out_host), "cudaMemcpyFromSymbol");
}

// Constant memory: kernels only read it, the host sets it like any symbol.
static __constant__ float coefficients[max_coefficients];

constexpr int per_thread = 4; // elements of a polynomial

static __global__ void evaluate(const float *x, float *y, int n, int degree)
{
    int first = blockIdx.x * block_size * per_thread + threadIdx.x;
    float sum[per_thread], at[per_thread];
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
    evaluate<<<pieces(n, block_size * per_thread), block_size>>>(x, y, n, degree);
    check_launch("evaluate");
}

static __device__ unsigned char next_state[256];

static __global__ void walk(const unsigned char *start, unsigned char *out, int n, int steps)
{
    __shared__ unsigned char table[256];
    table[threadIdx.x] = next_state[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    unsigned char state = start[i];
    for (int k = 0; k < steps; ++k) state = table[state];
    out[i] = state;
}

void follow(const unsigned char *start, const unsigned char *next_host, unsigned char *out, int n,
            int steps)
{
    if (n == 0) return;
    check(cudaMemcpyToSymbol(next_state, next_host, sizeof next_state), "cudaMemcpyToSymbol");
    walk<<<pieces(n, block_size), block_size>>>(start, out, n, steps);
    check_launch("walk");
}

// In shared memory a run takes 17 floats, so that the elements of 32 lanes, each
// in its own run, are in 32 different banks.
constexpr int pitch = run_length + 1;

// Loads the block's runs into shared memory; neighbouring lanes load neighbours
// (lab 02 says why). Beyond n there is INFINITY, which sorts to the end.
static __device__ void bring_runs(const float *in, int n, float *staged)
{
    int first = blockIdx.x * block_size * run_length;
    for (int i = threadIdx.x; i < block_size * run_length; i += block_size)
        staged[i + i / run_length] = first + i < n ? in[first + i] : INFINITY;
    __syncthreads();
}

// Stores them to `out` in the same way.
static __device__ void take_runs(const float *staged, float *out, int n)
{
    int first = blockIdx.x * block_size * run_length;
    __syncthreads();
    for (int i = threadIdx.x; i < block_size * run_length; i += block_size)
        if (first + i < n) out[first + i] = staged[i + i / run_length];
}

// One run per thread.
static __global__ void sort_runs(const float *in, float *out, int n)
{
    __shared__ float staged[block_size * pitch];
    bring_runs(in, n, staged);
    float run[run_length], *mine = staged + threadIdx.x * pitch;
#pragma unroll
    for (int i = 0; i < run_length; ++i) run[i] = mine[i];
#pragma unroll
    for (int round = 0; round < run_length; ++round)
#pragma unroll
        for (int i = round % 2; i + 1 < run_length; i += 2) {
            float low = fminf(run[i], run[i + 1]), high = fmaxf(run[i], run[i + 1]);
            run[i] = low;
            run[i + 1] = high;
        }
#pragma unroll
    for (int i = 0; i < run_length; ++i) mine[i] = run[i];
    take_runs(staged, out, n);
}

void small_sort(const float *in, float *out, int n)
{
    if (n == 0) return;
    sort_runs<<<pieces(n, block_size * run_length), block_size>>>(in, out, n);
    check_launch("sort_runs");
}

// One piece of `block` elements per block; a thread has up to four of them.
static __global__ void reverse_pieces(float *data, int n, int block)
{
    __shared__ float before[1024];
    int first = blockIdx.x * block, length = min(block, n - first);
    for (int i = threadIdx.x; i < length; i += block_size) before[i] = data[first + i];
    __syncthreads();
    for (int i = threadIdx.x; i < length; i += block_size) data[first + i] = before[length - 1 - i];
}

void reverse_blocks(float *data, int n, int block)
{
    if (n == 0) return;
    reverse_pieces<<<pieces(n, block), block_size>>>(data, n, block);
    check_launch("reverse_pieces");
}
