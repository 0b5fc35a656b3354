// Right: an upload is a graph captured from a stream; sums end with a grid barrier instead of
// atomics; managed pages are copied, not fetched; the measured copies have a stream of their own.
#include "../check.hpp"
#include "lab.hpp"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>

namespace cg = cooperative_groups;

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

float *acquire(size_t n)
{
    void *memory;
    check(cudaMallocHost(&memory, n * sizeof(float)), "cudaMallocHost");
    return static_cast<float *>(memory);
}

void upload(const float *src_host, float *dst, size_t n)
{
    as_graph([&](cudaStream_t stream) {
        check(cudaMemcpyAsync(dst, src_host, n * sizeof(float), cudaMemcpyHostToDevice, stream),
              "cudaMemcpyAsync");
    });
}

void release(float *memory) { check(cudaFreeHost(memory), "cudaFreeHost"); }

// Each block leaves its sums in scratch; when all have, a warp a power adds them.
constexpr int sum_blocks = 64, max_passes = 16;
size_t sum_mapped_scratch(int) { return sum_blocks * max_passes * sizeof(double); }

static __global__ void __launch_bounds__(threads)
    add_powers(const float *values, int n, int passes, double *out, double *of_blocks)
{
    __shared__ double of_warps[threads / 32];
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    double sum[max_passes] = {};
    for (int i = grid.thread_rank(); i < n; i += grid.num_threads()) {
        double power = 1, value = values[i]; // over the link, once
#pragma unroll
        for (int p = 0; p < max_passes; ++p)
            if (p < passes) sum[p] += power *= value;
    }
    auto of_warp = [](double v) {
        for (int lanes = 16; lanes > 0; lanes /= 2) v += __shfl_xor_sync(~0u, v, lanes);
        return v;
    };
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int p = 0; p < max_passes; ++p) {
        if (p >= passes) break; // the same for all
        double mine = of_warp(sum[p]);
        if (lane == 0) of_warps[warp] = mine;
        block.sync();
        double all = of_warp(threadIdx.x < threads / 32 ? of_warps[lane] : 0);
        if (threadIdx.x == 0) of_blocks[p * gridDim.x + blockIdx.x] = all;
        block.sync();
    }
    grid.sync();
    if (blockIdx.x != 0) return;
    for (int p = warp; p < passes; p += threads / 32) {
        double part = 0;
        for (int b = lane; b < gridDim.x; b += 32) part += of_blocks[p * gridDim.x + b];
        part = of_warp(part);
        if (lane == 0) out[p] = part;
    }
}

void sum_mapped(const float *mapped, int n, int passes, double *out, void *scratch)
{
    double *of_blocks = static_cast<double *>(scratch);
    void *arguments[] = {&mapped, &n, &passes, &out, &of_blocks};
    int blocks = std::clamp(blocks_for(n), 1, sum_blocks);
    check(cudaLaunchCooperativeKernel(add_powers, blocks, threads, arguments), "add_powers");
}

static __global__ void scale(float *values, int n, float factor, int rounds)
{
    int i = blockIdx.x * threads + threadIdx.x;
    if (i >= n) return;
    float value = values[i];
    while (rounds-- > 0) value *= factor;
    values[i] = value;
}

// The pages stay on the host: a copy goes to the device and comes back, both in
// large pieces, and no kernel meets a page that is not there.
void scale_managed(float *managed, int n, float factor, int rounds)
{
    if (n == 0 || rounds == 0) return;
    float *here;
    size_t bytes = n * sizeof(float);
    check(cudaMallocAsync(&here, bytes, nullptr), "cudaMallocAsync");
    check(cudaMemcpyAsync(here, managed, bytes, cudaMemcpyDefault), "cudaMemcpyAsync");
    launch(scale, blocks_for(n), threads, 0, here, n, factor, rounds);
    check(cudaMemcpyAsync(managed, here, bytes, cudaMemcpyDefault), "cudaMemcpyAsync");
    check(cudaFreeAsync(here, nullptr), "cudaFreeAsync");
}

float time_copy_ms(const float *src_host, float *dst, size_t n, int repeats)
{
    cudaStream_t stream;
    cudaEvent_t start, stop;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaEventCreate(&start), "cudaEventCreate");
    check(cudaEventCreate(&stop), "cudaEventCreate");
    for (int k = 0; k <= repeats; ++k) {
        check(cudaMemcpyAsync(dst, src_host, n * sizeof(float), cudaMemcpyHostToDevice, stream),
              "cudaMemcpyAsync");
        if (k == 0) check(cudaEventRecord(start, stream), "cudaEventRecord");
    }
    check(cudaEventRecord(stop, stream), "cudaEventRecord");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start, stop), "cudaEventElapsedTime");
    check(cudaEventDestroy(start), "cudaEventDestroy");
    check(cudaEventDestroy(stop), "cudaEventDestroy");
    check(cudaStreamDestroy(stream), "cudaStreamDestroy");
    return ms / repeats;
}
