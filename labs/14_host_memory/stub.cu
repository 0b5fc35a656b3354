// Lab 14, memory on the host: the file to edit. What each function must do:
// lab.hpp. The lesson: handouts/14_host_memory.md. Stuck at a TODO:
// ./workbook hint 14.
#include "../check.hpp"
#include "lab.hpp"

#include <chrono>
#include <cstdlib>
#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

float time_copy_ms(const float *src_host, float *dst, size_t n, int repeats)
{
    size_t bytes = sizeof(float) * n;
    // TODO 1 (time_copy_ms: a warm-up copy): The first copy, which may take
    // longer than the others, must be made here, where it is not measured.
    auto host_start = std::chrono::steady_clock::now();
    // TODO 2 (time_copy_ms): An event must be recorded in front of these copies,
    // and another one behind them.
    for (int k = 0; k < repeats; ++k)
        check(cudaMemcpyAsync(dst, src_host, bytes, cudaMemcpyHostToDevice), "cudaMemcpyAsync");
    auto host_stop = std::chrono::steady_clock::now();
    float ms = std::chrono::duration<float, std::milli>(host_stop - host_start).count();
    // TODO 2 (time_copy_ms): `ms` must be the time between the two events. As it
    // stands, it is the time that the host needed to queue the copies.
    ms /= repeats;
    // TODO 3 (time_copy_ms: call after call): No event may be left over.
    return ms;
}

void upload(const float *src_host, float *dst, size_t n)
{
    // TODO 4 (upload): dst must hold the n floats.
}

float *acquire(size_t n)
{
    auto *memory = static_cast<float *>(std::malloc(sizeof(float) * n));
    // TODO 5 (upload: speed): The device must be able to copy from `memory` by
    // itself: its pages must be pinned.
    return memory;
}

void release(float *memory)
{
    // TODO 5 (upload: speed): No page may stay pinned.
    std::free(memory);
}

// Adds the threads' numbers up; *sum grows by the sum of the whole grid.
static __device__ void add_to_sum(double of_thread, double *sum)
{
    __shared__ double of_block;
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    for (int lanes = 16; lanes > 0; lanes /= 2)
        of_thread += __shfl_down_sync(0xffffffff, of_thread, lanes);
    if (threadIdx.x % 32 == 0) atomicAdd(&of_block, of_thread);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(sum, of_block);
}

// The grid may have fewer threads than there are values.
static __global__ void add_powers(const float *values, int n, int power, double *sum)
{
    // TODO 7 (sum_mapped): *sum must grow by the sum of all values to the power,
    // computed as double. All threads of a block must call add_to_sum.
}

// As many bytes as `mapped` has.
size_t sum_mapped_scratch(int n) { return sizeof(float) * n; }

void sum_mapped(const float *mapped, int n, int passes, double *out, void *scratch)
{
    const float *values = mapped;
    // TODO 6 (sum_mapped: no values): The sums, to which add_powers adds, must
    // be 0 before the first kernel, even if there are no values.
    if (n == 0) return;
    // TODO 8 (sum_mapped: speed): No value may cross the link twice. The kernels
    // read from `values`.
    int blocks = blocks_for(n) < 1024 ? blocks_for(n) : 1024;
    for (int p = 0; p < passes; ++p) add_powers<<<blocks, block_size>>>(values, n, p + 1, out + p);
    check_launch("add_powers");
}

static __global__ void scale(float *managed, int n, float factor)
{
    // TODO 9 (scale_managed): Each thread must scale one element, if it has one.
}

void scale_managed(float *managed, int n, float factor, int rounds)
{
    if (n == 0) return;
    cudaMemLocation here{};
    here.type = cudaMemLocationTypeDevice;
    check(cudaGetDevice(&here.id), "cudaGetDevice");
    // TODO 10 (scale_managed: speed): All pages must be here before the first
    // kernel asks for one.
    for (int k = 0; k < rounds; ++k) scale<<<blocks_for(n), block_size>>>(managed, n, factor);
    check_launch("scale");
}
