// Lab 01, memory spaces: the file to edit. What each function must do: lab.hpp.
// The lesson: handouts/01_memory_spaces.md. Stuck at a TODO:
// ./workbook hint 01.
//
// The launches below are in place and round their grids up, so that the last
// block may have threads to spare. Change launches where your idea needs it.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int pieces(size_t n, size_t of) { return static_cast<int>((n + of - 1) / of); }

void device_facts(device_facts_t *out_host)
{
    cudaDeviceProp device{};
    // TODO 1 (device_facts): Every member of *out_host must hold the values that
    // cudaGetDeviceCount stores at the address that it is given, and
    // cudaGetDeviceProperties for the device that cudaGetDevice names.
}

// A variable in device memory, as long as the program runs; every kernel of this
// file can use it by its name, and the host by the calls that take a symbol.
static __device__ float in_global;

static __global__ void add_one() { in_global += 1; }

void add_to_global(float start, float *out_host)
{
    // TODO 2 (add_to_global): Before the launch in_global must be `start`. The
    // host has no address of it: cudaMemcpyToSymbol finds it by its name.
    add_one<<<1, 1>>>();
    check_launch("add_one");
    // TODO 2 (add_to_global): Now *out_host must be the value of in_global.
}

// Constant memory: kernels only read it, the host sets it like any symbol.
static __constant__ float coefficients[max_coefficients];

constexpr int per_thread = 4; // elements of a polynomial

static __global__ void evaluate(const float *x, float *y, int n, int degree)
{
    int first = blockIdx.x * block_size * per_thread + threadIdx.x;
    // TODO 3 (polynomial): y must hold the values for this thread's elements
    // `first`, first + block_size, ..., four of them, where they are below n. A
    // coefficient, once it is loaded, must serve all four.
}

void polynomial(const float *x, float *y, int n, const float *coefficients_host, int degree)
{
    if (n == 0) return;
    // TODO 3 (polynomial): Constant memory must hold the coefficients. How many
    // bytes are they?
    evaluate<<<pieces(n, block_size * per_thread), block_size>>>(x, y, n, degree);
    check_launch("evaluate");
}

static __device__ unsigned char next_state[256];

static __global__ void walk(const unsigned char *start, unsigned char *out, int n, int steps)
{
    // TODO 4 (follow): out[i] must be the end of the walk from start[i]. Each
    // block must have the table in shared memory, and no thread may read there
    // before all have written.
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
    // TODO 5 (small_sort): This thread's run, which begins at staged[threadIdx.x
    // * pitch], must be sorted in an array of its own that lives in registers,
    // and put back. Then take_runs(staged, out, n) must be called.
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
    // TODO 6 (reverse_blocks): This block's piece, which may be shorter if it is
    // the last, must be reversed through `before`: all threads must have copied
    // to it before one of them writes to `data`.
}

void reverse_blocks(float *data, int n, int block)
{
    if (n == 0) return;
    reverse_pieces<<<pieces(n, block), block_size>>>(data, n, block);
    check_launch("reverse_pieces");
}
