// Lab 01, the solution: every variable where it is cheapest to reach.
//
// New: the 32 lanes have a table each, a column of shared memory, so that no two meet in a bank;
// its entries are places, so that a step is one load. Batcher's odd-even merge sort (1968) needs 63
// comparisons of a run instead of 120, and a warp stages its runs by itself, without waiting for
// others. Eight elements of a polynomial share a coefficient.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <cstring>

constexpr int block_size = 256;
constexpr int per_thread = 8; // elements of a polynomial
constexpr int warps = block_size / 32;

static int pieces(size_t n, size_t of) { return static_cast<int>((n + of - 1) / of); }

static int current_device()
{
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    return device;
}

void device_facts(device_facts_t *out_host)
{
    cudaDeviceProp p;
    check(cudaGetDeviceCount(&out_host->devices), "cudaGetDeviceCount");
    check(cudaGetDeviceProperties(&p, current_device()), "cudaGetDeviceProperties");
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
    check_launch("add_one");
    check(cudaMemcpyFromSymbol(out_host, in_global, sizeof *out_host), "cudaMemcpyFromSymbol");
}

static __constant__ float coefficients[max_coefficients];

// A coefficient is loaded once for all elements of a thread.
static __global__ void evaluate(const float *x, float *y, int n, int degree)
{
    int first = blockIdx.x * block_size * per_thread + threadIdx.x;
    float mine[per_thread], sum[per_thread];
#pragma unroll
    for (int j = 0; j < per_thread; ++j) {
        int i = first + j * block_size;
        mine[j] = i < n ? x[i] : 0;
        sum[j] = coefficients[degree];
    }
#pragma unroll 4
    for (int k = degree - 1; k >= 0; --k) {
        float c = coefficients[k];
#pragma unroll
        for (int j = 0; j < per_thread; ++j) sum[j] = sum[j] * mine[j] + c;
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

static __constant__ unsigned char next_state[256];

// A lane's own copy of the table is a column: bank l is lane l's alone. What stands there for a
// state is the place of the next one, in bytes from the start.
static __device__ unsigned place_of(unsigned state)
{
    return state / 2 * 128 + threadIdx.x % 32 * 4 + state % 2 * 2;
}
static __device__ unsigned state_at(unsigned place) { return place / 128 * 2 + place / 2 % 2; }

constexpr int walkers = 512, walks = 4; // threads per block; elements that a thread has at a time

static __global__ void __launch_bounds__(walkers)
    walk(const unsigned char *start, unsigned char *out, int n, int steps)
{
    __shared__ __align__(2) char table[256 * 64];
    auto at = [](unsigned place) { return reinterpret_cast<unsigned short *>(table + place); };
    for (int s = threadIdx.x / 32; s < 256; s += walkers / 32)
        *at(place_of(s)) = place_of(next_state[s]);
    __syncthreads();
    long long all = static_cast<long long>(gridDim.x) * walkers * walks;
    for (long long first = blockIdx.x * walkers * walks + threadIdx.x; first < n; first += all) {
        unsigned place[walks];
#pragma unroll
        for (int j = 0; j < walks; ++j)
            place[j] = place_of(start[min(first + j * walkers, n - 1ll)]);
        for (int k = 0; k < steps; ++k)
#pragma unroll
            for (int j = 0; j < walks; ++j) place[j] = *at(place[j]);
#pragma unroll
        for (int j = 0; j < walks; ++j)
            if (first + j * walkers < n) out[first + j * walkers] = state_at(place[j]);
    }
}

void follow(const unsigned char *start, const unsigned char *next_host, unsigned char *out, int n,
            int steps)
{
    if (n == 0) return;
    int sms = 0;
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, current_device()),
          "asking for the SMs");
    check(cudaMemcpyToSymbol(next_state, next_host, 256), "cudaMemcpyToSymbol");
    walk<<<min(pieces(n, walkers * walks), 4 * sms), walkers>>>(start, out, n, steps);
    check_launch("walk");
}

// Batcher's odd-even merge sort: which two elements meet depends on no data. Once all loops are
// unrolled every index is a constant, and the run is 16 registers.
static __device__ void sort_run(float (&run)[run_length])
{
#pragma unroll
    for (int s = 0; s < 4; ++s) // stretches of 2^s are sorted, and become twice as long
#pragma unroll
        for (int a = s; a >= 0; --a)
#pragma unroll
            for (int i = 0; i < run_length; ++i) {
                int sorted = 1 << s, apart = 1 << a, j = i + apart, skipped = apart % sorted;
                bool meet = i >= skipped && (i - skipped) / apart % 2 == 0 && j < run_length &&
                            i / (2 * sorted) == j / (2 * sorted);
                if (!meet) continue;
                float low = fminf(run[i], run[j]), high = fmaxf(run[i], run[j]);
                run[i] = low;
                run[j] = high;
            }
}

// A warp brings its 32 runs to shared memory and back, as neighbours. There a run has 17 places,
// so that the lanes, each in its own, meet in no bank.
static __global__ void __launch_bounds__(block_size) sort_runs(const float *in, float *out, int n)
{
    __shared__ float tiles[warps][32 * (run_length + 1)];
    float *tile = tiles[threadIdx.x / 32];
    int lane = threadIdx.x % 32;
    int first = (blockIdx.x * warps + threadIdx.x / 32) * 32 * run_length;
    auto place = [](int i) { return i + i / run_length; };
#pragma unroll
    for (int k = 0; k < run_length; ++k) {
        int i = k * 32 + lane;
        tile[place(i)] = first + i < n ? in[first + i] : INFINITY; // stays behind the others
    }
    __syncwarp();
    float run[run_length];
#pragma unroll
    for (int i = 0; i < run_length; ++i) run[i] = tile[lane * (run_length + 1) + i];
    sort_run(run);
#pragma unroll
    for (int i = 0; i < run_length; ++i) tile[lane * (run_length + 1) + i] = run[i];
    __syncwarp();
#pragma unroll
    for (int k = 0; k < run_length; ++k)
        if (int i = k * 32 + lane; first + i < n) out[first + i] = tile[place(i)];
}

void small_sort(const float *in, float *out, int n)
{
    if (n == 0) return;
    sort_runs<<<pieces(n, block_size * run_length), block_size>>>(in, out, n);
    check_launch("sort_runs");
}

constexpr int max_piece = 1024;

// A block has `span` elements, which are whole pieces, but for the last.
static __global__ void reverse_pieces(float *data, int n, int block, int span)
{
    __shared__ float before[max_piece];
    data += blockIdx.x * span;
    int count = min(span, n - static_cast<int>(blockIdx.x) * span);
    for (int i = threadIdx.x; i < count; i += block_size) before[i] = data[i];
    __syncthreads(); // others read what this thread is about to overwrite
    for (int i = threadIdx.x; i < count; i += block_size) {
        int piece = i / block * block, length = min(block, count - piece);
        data[i] = before[piece + length - 1 - (i - piece)];
    }
}

void reverse_blocks(float *data, int n, int block)
{
    if (n == 0) return;
    int span = max_piece / block * block;
    reverse_pieces<<<pieces(n, span), block_size>>>(data, n, block, span);
    check_launch("reverse_pieces");
}
