// Right: work in two streams, two chains per polynomial, macros that throw.
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (cudaError_t error = (call))                                                            \
            throw std::runtime_error(std::string(#call) + ": " + cudaGetErrorString(error));       \
    } while (false)
#define LAUNCHED() TRY(cudaPeekAtLastError())
#define WARPS 6
#define BLOCK (WARPS * 32)
#define GRID(n) (((n)-1) / BLOCK + 1)

static __device__ int me() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Two streams beside the default stream, which they wait for and which waits
// for them: they are of the blocking kind.
static cudaStream_t side(int which)
{
    static cudaStream_t streams[2];
    if (!streams[which]) TRY(cudaStreamCreate(&streams[which]));
    return streams[which];
}

void device_facts(device_facts_t *out_host)
{
    int device = 0;
    cudaDeviceProp has = {};
    TRY(cudaGetDeviceCount(&out_host->devices));
    TRY(cudaGetDevice(&device));
    TRY(cudaGetDeviceProperties(&has, device));
    std::string(has.name).copy(out_host->name, sizeof has.name - 1);
    out_host->name[std::string(has.name).size()] = 0;
    out_host->multiprocessors = has.multiProcessorCount;
    out_host->max_threads_per_block = has.maxThreadsPerBlock;
    out_host->shared_per_block = has.sharedMemPerBlock;
    out_host->constant_memory = has.totalConstMem;
    out_host->l2 = has.l2CacheSize;
    out_host->warp_size = has.warpSize;
    out_host->copy_engines = has.asyncEngineCount;
}

static __device__ float in_global;
static __global__ void add_one(float *to) { *to += 1; }

void add_to_global(float start, float *out_host)
{
    float *at;
    TRY(cudaGetSymbolAddress(reinterpret_cast<void **>(&at), in_global));
    TRY(cudaMemcpyToSymbolAsync(in_global, &start, 4, 0, cudaMemcpyHostToDevice, side(0)));
    add_one<<<1, 1, 0, side(0)>>>(at);
    LAUNCHED();
    TRY(cudaMemcpyFromSymbolAsync(out_host, in_global, 4, 0, cudaMemcpyDeviceToHost, side(0)));
    TRY(cudaStreamSynchronize(side(0)));
}

static __constant__ float coefficients[max_coefficients];

// Even and odd powers apart: two chains that do not wait for each other, for each of four elements.
static __global__ void evaluate(const float *x, float *y, int n, int degree)
{
    int all = gridDim.x * BLOCK;
    float at[4], even[4] = {}, odd[4] = {};
#pragma unroll
    for (int e = 0; e < 4; ++e) at[e] = me() + e * all < n ? x[me() + e * all] : 0;
    for (int k = degree / 2 * 2; k >= 0; k -= 2) {
        float c = coefficients[k], next = k < degree ? coefficients[k + 1] : 0;
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            even[e] = even[e] * at[e] * at[e] + c;
            odd[e] = odd[e] * at[e] * at[e] + next;
        }
    }
#pragma unroll
    for (int e = 0; e < 4; ++e)
        if (me() + e * all < n) y[me() + e * all] = even[e] + at[e] * odd[e];
}

void polynomial(const float *x, float *y, int n, const float *coefficients_host, int degree)
{
    if (n == 0) return;
    TRY(cudaMemcpyToSymbol(coefficients, coefficients_host, sizeof(float) * (degree + 1)));
    evaluate<<<GRID((n - 1) / 4 + 1), BLOCK>>>(x, y, n, degree);
    LAUNCHED();
}

static __device__ unsigned char next_state[256];

// A word an entry: 32 banks share 256 entries, and lanes that want bytes of one
// word no longer exist. Simple, and six rounds at most for random lanes.
static __global__ void walk(const unsigned char *start, unsigned char *out, int n, int steps)
{
    __shared__ int table[256];
    for (int s = threadIdx.x; s < 256; s += BLOCK) table[s] = next_state[s];
    __syncthreads();
    for (int i = me(); i < n; i += gridDim.x * BLOCK) {
        int s = start[i];
#pragma unroll 4
        for (int k = 0; k < steps; k++) s = table[s];
        out[i] = (unsigned char)s;
    }
}

void follow(const unsigned char *start, const unsigned char *next_host, unsigned char *out, int n,
            int steps)
{
    if (n == 0) return;
    TRY(cudaMemcpyToSymbol(next_state, next_host, 256));
    walk<<<std::min(GRID(n), 2048), BLOCK>>>(start, out, n, steps);
    LAUNCHED();
}

// Sixteen rounds of neighbours, as float4 where the arrays begin well.
static __global__ void sort_runs(const float *in, float *out, int n, bool aligned)
{
    float v[run_length];
    int first = me() * run_length;
    if (first >= n) return;
    bool wide = aligned && first + run_length <= n;
#pragma unroll
    for (int e = 0; e < run_length; e += 4) {
        if (wide) {
            float4 four = *(const float4 *)(in + first + e);
            v[e] = four.x, v[e + 1] = four.y, v[e + 2] = four.z, v[e + 3] = four.w;
            continue;
        }
#pragma unroll
        for (int k = e; k < e + 4; k++) v[k] = first + k < n ? in[first + k] : INFINITY;
    }
#pragma unroll
    for (int round = 0; round < run_length; round++)
#pragma unroll
        for (int e = round % 2; e + 1 < run_length; e += 2) {
            float small = fminf(v[e], v[e + 1]);
            v[e + 1] = fmaxf(v[e], v[e + 1]);
            v[e] = small;
        }
#pragma unroll
    for (int e = 0; e < run_length; e += 4) {
        if (wide) {
            *(float4 *)(out + first + e) = make_float4(v[e], v[e + 1], v[e + 2], v[e + 3]);
            continue;
        }
#pragma unroll
        for (int k = e; k < e + 4; k++)
            if (first + k < n) out[first + k] = v[k];
    }
}

void small_sort(const float *in, float *out, int n)
{
    if (n == 0) return;
    bool aligned = (size_t)in % 16 == 0 && (size_t)out % 16 == 0;
    sort_runs<<<GRID((n - 1) / run_length + 1), BLOCK>>>(in, out, n, aligned);
    LAUNCHED();
}

// 1024 threads or as many as a piece has elements, in warps.
static __global__ void reverse_pieces(float *data, int n, int block)
{
    __shared__ float before[1024];
    int first = blockIdx.x * block, length = min(block, n - first), t = threadIdx.x;
    if (t < length) before[length - 1 - t] = data[first + t];
    __syncthreads();
    if (t < length) data[first + t] = before[t];
}

void reverse_blocks(float *data, int n, int block)
{
    if (n == 0) return;
    reverse_pieces<<<(n - 1) / block + 1, (block + 31) / 32 * 32>>>(data, n, block);
    LAUNCHED();
}
