// Right: grid-stride loops over 2 blocks per multiprocessor; follow squares its table.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>

constexpr int block_size = 256;

static int attribute(cudaDeviceAttr which)
{
    int device = 0, value = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
    return value;
}

static int fixed_grid() { return 2 * attribute(cudaDevAttrMultiProcessorCount); }

#define FOR_ALL(i, n)                                                                              \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += gridDim.x * blockDim.x)

void device_facts(device_facts_t *out_host)
{
    device_facts_t facts{};
    cudaDeviceProp properties;
    check(cudaGetDeviceCount(&facts.devices), "cudaGetDeviceCount");
    int device;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    std::memcpy(facts.name, properties.name, sizeof facts.name);
    facts.multiprocessors = attribute(cudaDevAttrMultiProcessorCount);
    facts.max_threads_per_block = attribute(cudaDevAttrMaxThreadsPerBlock);
    facts.shared_per_block = attribute(cudaDevAttrMaxSharedMemoryPerBlock);
    facts.constant_memory = attribute(cudaDevAttrTotalConstantMemory);
    facts.l2 = attribute(cudaDevAttrL2CacheSize);
    facts.warp_size = attribute(cudaDevAttrWarpSize);
    facts.copy_engines = attribute(cudaDevAttrAsyncEngineCount);
    *out_host = facts;
}

static __device__ float in_global;
static __global__ void add_one() { atomicAdd(&in_global, 1.0f); }

void add_to_global(float start, float *out_host)
{
    void *at = nullptr; // a symbol is an address like any other
    check(cudaGetSymbolAddress(&at, in_global), "cudaGetSymbolAddress");
    check(cudaMemcpy(at, &start, sizeof start, cudaMemcpyDefault), "cudaMemcpy");
    add_one<<<1, 1>>>();
    check_launch("add_one");
    check(cudaMemcpy(out_host, at, sizeof *out_host, cudaMemcpyDefault), "cudaMemcpy");
}

static __constant__ float coefficients[max_coefficients];

// Four x a turn, so that one load of a coefficient serves four.
static __global__ void evaluate(const float *x, float *y, int n, int degree)
{
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += 4 * stride) {
        float at[4], sum[4];
        for (int s = 0; s < 4; ++s) {
            at[s] = i + s * stride < n ? x[i + s * stride] : 0;
            sum[s] = coefficients[degree];
        }
        for (int k = degree - 1; k >= 0; --k)
            for (int s = 0; s < 4; ++s) sum[s] = fmaf(sum[s], at[s], coefficients[k]);
        for (int s = 0; s < 4; ++s)
            if (i + s * stride < n) y[i + s * stride] = sum[s];
    }
}

void polynomial(const float *x, float *y, int n, const float *coefficients_host, int degree)
{
    if (n == 0) return;
    check(cudaMemcpyToSymbol(coefficients, coefficients_host, (degree + 1) * sizeof(float)),
          "cudaMemcpyToSymbol");
    evaluate<<<fixed_grid(), block_size>>>(x, y, n, degree);
    check_launch("evaluate");
}

static __device__ unsigned char next_state[256];

// Binary powers: two tables for 2^k steps make one for 2^(k + 1).
static __global__ void __launch_bounds__(256)
    walk(const unsigned char *start, unsigned char *out, int n, int steps)
{
    __shared__ unsigned char power[256], all[256];
    int t = threadIdx.x;
    power[t] = next_state[t];
    all[t] = t;
    __syncthreads();
    for (; steps > 0; steps /= 2) {
        unsigned char further = power[all[t]], twice = power[power[t]];
        __syncthreads();
        if (steps % 2) all[t] = further;
        power[t] = twice;
        __syncthreads();
    }
    FOR_ALL(i, n) out[i] = all[start[i]];
}

void follow(const unsigned char *start, const unsigned char *next_host, unsigned char *out, int n,
            int steps)
{
    if (n == 0) return;
    check(cudaMemcpyToSymbol(next_state, next_host, sizeof next_state), "cudaMemcpyToSymbol");
    walk<<<fixed_grid(), 256>>>(start, out, n, steps);
    check_launch("walk");
}

// A bitonic network. Loads and stores go through rows of 17, neighbours by
// neighbouring lanes.
static __global__ void __launch_bounds__(128) sort_runs(const float *in, float *out, int n)
{
    constexpr int a_block = 128 * run_length;
    __shared__ float rows[128][run_length + 1];
    for (int first = blockIdx.x * a_block; first < n; first += gridDim.x * a_block) {
        for (int e = threadIdx.x; e < a_block; e += 128)
            rows[e / run_length][e % run_length] = first + e < n ? in[first + e] : INFINITY;
        __syncthreads();
        float v[run_length];
#pragma unroll
        for (int e = 0; e < run_length; ++e) v[e] = rows[threadIdx.x][e];
#pragma unroll
        for (int size = 2; size <= run_length; size *= 2)
#pragma unroll
            for (int apart = size / 2; apart > 0; apart /= 2)
#pragma unroll
                for (int e = 0; e < run_length; ++e) {
                    if (e & apart) continue;
                    float low = fminf(v[e], v[e + apart]), high = fmaxf(v[e], v[e + apart]);
                    bool up = !(e & size);
                    v[e] = up ? low : high;
                    v[e + apart] = up ? high : low;
                }
#pragma unroll
        for (int e = 0; e < run_length; ++e) rows[threadIdx.x][e] = v[e];
        __syncthreads();
        for (int e = threadIdx.x; e < a_block && first + e < n; e += 128)
            out[first + e] = rows[e / run_length][e % run_length];
        __syncthreads();
    }
}

void small_sort(const float *in, float *out, int n)
{
    if (n == 0) return;
    sort_runs<<<fixed_grid(), 128>>>(in, out, n);
    check_launch("sort_runs");
}

// A block a piece: all is in registers before anybody writes.
static __global__ void __launch_bounds__(block_size) reverse_pieces(float *data, int n, int block)
{
    for (int p = blockIdx.x; p < (n - 1) / block + 1; p += gridDim.x) {
        float *piece = data + p * block;
        int length = min(block, n - p * block);
        float held[4];
        for (int k = 0, e = threadIdx.x; k < 4; ++k, e += block_size)
            if (e < length) held[k] = piece[length - 1 - e];
        __syncthreads();
        for (int k = 0, e = threadIdx.x; k < 4; ++k, e += block_size)
            if (e < length) piece[e] = held[k];
    }
}

void reverse_blocks(float *data, int n, int block)
{
    if (n == 0 || block == 1) return;
    reverse_pieces<<<std::min((n - 1) / block + 1, 8 * fixed_grid()), block_size>>>(data, n, block);
    check_launch("reverse_pieces");
}
