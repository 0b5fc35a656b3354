// Right: kernels start by cudaLaunchKernelEx and graphs captured from a stream; add_to_global is
// set by a kernel and read through a mapped word.
#include "../check.hpp"
#include "lab.hpp"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstring>

constexpr int threads = 256;

static int blocks_for(int n, int a_block = threads) { return n / a_block + (n % a_block != 0); }

// What a lambda gives to a stream becomes a graph, which then runs once.
template <typename F> static void as_graph(F work)
{
    static cudaStream_t recorder = [] {
        cudaStream_t stream;
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
        return stream;
    }();
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    check(cudaStreamBeginCapture(recorder, cudaStreamCaptureModeThreadLocal), "begin capture");
    work(recorder);
    check(cudaStreamEndCapture(recorder, &graph), "end capture");
    check(cudaGraphInstantiate(&ready, graph, 0), "cudaGraphInstantiate");
    check(cudaGraphLaunch(ready, nullptr), "cudaGraphLaunch");
    check(cudaGraphExecDestroy(ready), "cudaGraphExecDestroy"); // when it has ended
    check(cudaGraphDestroy(graph), "cudaGraphDestroy");
}

template <typename... P, typename... A>
static void launch(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared, A... arguments)
{
    cudaLaunchConfig_t config{.gridDim = grid, .blockDim = block, .dynamicSmemBytes = shared};
    check(cudaLaunchKernelEx(&config, kernel, P(arguments)...), "cudaLaunchKernelEx");
}

void device_facts(device_facts_t *out_host)
{
    int device;
    cudaDeviceProp p;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaGetDeviceProperties(&p, device), "cudaGetDeviceProperties");
    device_facts_t facts{.multiprocessors = p.multiProcessorCount,
                         .max_threads_per_block = p.maxThreadsPerBlock,
                         .shared_per_block = p.sharedMemPerBlock,
                         .constant_memory = p.totalConstMem,
                         .l2 = static_cast<size_t>(p.l2CacheSize),
                         .warp_size = p.warpSize,
                         .copy_engines = p.asyncEngineCount};
    check(cudaGetDeviceCount(&facts.devices), "cudaGetDeviceCount");
    std::strcpy(facts.name, p.name);
    *out_host = facts;
}

static __device__ float in_global;
static __global__ void set(float start) { in_global = start; }
static __global__ void add_one(float *seen) { *seen = ++in_global; }

void add_to_global(float start, float *out_host)
{
    // A word of pinned memory is where the kernel leaves what it made.
    float *seen;
    check(cudaMallocHost(&seen, sizeof *seen), "cudaMallocHost");
    as_graph([&](cudaStream_t stream) {
        set<<<1, 1, 0, stream>>>(start);
        add_one<<<1, 1, 0, stream>>>(seen);
    });
    check(cudaStreamSynchronize(nullptr), "add_one");
    *out_host = *seen;
    check(cudaFreeHost(seen), "cudaFreeHost");
}

struct coefficients_t {
    float c[max_coefficients];
};
static __constant__ coefficients_t constants;

// Four elements per thread share a coefficient that is loaded; the loop goes by four.
static __global__ void evaluate(const float *x, float *y, int n, int degree)
{
    int i = blockIdx.x * 4 * threads + threadIdx.x;
    auto at = [&](int k) { return i + k * threads < n ? x[i + k * threads] : 0; };
    float a = at(0), b = at(1), c = at(2), d = at(3);
    float of_a = 0, of_b = 0, of_c = 0, of_d = 0;
#pragma unroll 4
    for (int k = degree; k >= 0; --k) {
        float coefficient = constants.c[k];
        of_a = fmaf(of_a, a, coefficient);
        of_b = fmaf(of_b, b, coefficient);
        of_c = fmaf(of_c, c, coefficient);
        of_d = fmaf(of_d, d, coefficient);
    }
    float all[] = {of_a, of_b, of_c, of_d};
#pragma unroll
    for (int k = 0; k < 4; ++k)
        if (i + k * threads < n) y[i + k * threads] = all[k];
}

void polynomial(const float *x, float *y, int n, const float *coefficients_host, int degree)
{
    if (n == 0) return;
    check(cudaMemcpyToSymbolAsync(constants, coefficients_host, (degree + 1) * sizeof(float), 0,
                                  cudaMemcpyDefault, nullptr),
          "cudaMemcpyToSymbolAsync");
    launch(evaluate, blocks_for(n, 4 * threads), threads, 0, x, y, n, degree);
}

static __device__ unsigned char next_state[256];

// Four states a thread: their steps wait for shared memory at the same time.
static __global__ void walk(const unsigned char *start, unsigned char *out, int n, int steps)
{
    __shared__ unsigned char table[256];
    table[threadIdx.x] = next_state[threadIdx.x];
    __syncthreads();
    int first = blockIdx.x * 4 * threads + threadIdx.x;
    unsigned char s[4];
#pragma unroll
    for (int u = 0; u < 4; ++u) s[u] = first + u * threads < n ? start[first + u * threads] : 0;
    for (int k = 0; k < steps; ++k)
#pragma unroll
        for (int u = 0; u < 4; ++u) s[u] = table[s[u]];
#pragma unroll
    for (int u = 0; u < 4; ++u)
        if (first + u * threads < n) out[first + u * threads] = s[u];
}

void follow(const unsigned char *start, const unsigned char *next_host, unsigned char *out, int n,
            int steps)
{
    if (n == 0) return;
    check(cudaMemcpyToSymbol(next_state, next_host, 256), "cudaMemcpyToSymbol");
    as_graph([&](cudaStream_t stream) {
        walk<<<blocks_for(n, 4 * threads), threads, 0, stream>>>(start, out, n, steps);
        check_launch("walk");
    });
}

// Insertion into a sorted run, element by element, without a branch: what comes
// sinks to its place, and what it meets moves up. Every index is a constant.
static __global__ void __launch_bounds__(128) sort_runs(const float *in, float *out, int n)
{
    int first = (blockIdx.x * 128 + threadIdx.x) * run_length;
    if (first >= n) return;
    float run[run_length];
#pragma unroll
    for (int e = 0; e < run_length; ++e) {
        float comes = first + e < n ? in[first + e] : INFINITY;
#pragma unroll
        for (int k = 0; k < e; ++k) {
            float small = fminf(run[k], comes);
            comes = fmaxf(run[k], comes);
            run[k] = small;
        }
        run[e] = comes;
    }
#pragma unroll
    for (int e = 0; e < run_length; ++e)
        if (first + e < n) out[first + e] = run[e];
}

void small_sort(const float *in, float *out, int n)
{
    if (n == 0) return;
    launch(sort_runs, blocks_for(n, 128 * run_length), 128, 0, in, out, n);
}

// Blocks with several pieces where pieces are short: all of them are brought,
// one barrier, all are written.
static __global__ void reverse_pieces(float *data, int n, int block, int span)
{
    extern __shared__ float before[]; // `span` elements, a multiple of block
    int first = blockIdx.x * span, here = min(span, n - first);
    for (int e = threadIdx.x; e < here; e += threads) before[e] = data[first + e];
    __syncthreads();
    for (int e = threadIdx.x; e < here; e += threads) {
        int begin = e / block * block, end = min(begin + block, here);
        data[first + e] = before[end - 1 - (e - begin)];
    }
}

void reverse_blocks(float *data, int n, int block)
{
    if (n == 0) return;
    int span = 1024 / block * block;
    launch(reverse_pieces, blocks_for(n, span), threads, span * sizeof(float), data, n, block,
           span);
}
