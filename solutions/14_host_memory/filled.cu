// Lab 14: the stub with lines added and none changed.
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
    check(cudaMemcpyAsync(dst, src_host, bytes, cudaMemcpyHostToDevice), "cudaMemcpyAsync");
    auto host_start = std::chrono::steady_clock::now();
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start), "cudaEventCreate");
    check(cudaEventCreate(&stop), "cudaEventCreate");
    check(cudaEventRecord(start), "cudaEventRecord");
    for (int k = 0; k < repeats; ++k)
        check(cudaMemcpyAsync(dst, src_host, bytes, cudaMemcpyHostToDevice), "cudaMemcpyAsync");
    auto host_stop = std::chrono::steady_clock::now();
    float ms = std::chrono::duration<float, std::milli>(host_stop - host_start).count();
    check(cudaEventRecord(stop), "cudaEventRecord");
    check(cudaEventSynchronize(stop), "cudaEventSynchronize");
    check(cudaEventElapsedTime(&ms, start, stop), "cudaEventElapsedTime");
    ms /= repeats;
    check(cudaEventDestroy(start), "cudaEventDestroy");
    check(cudaEventDestroy(stop), "cudaEventDestroy");
    return ms;
}

void upload(const float *src_host, float *dst, size_t n)
{
    check(cudaMemcpyAsync(dst, src_host, sizeof(float) * n, cudaMemcpyHostToDevice),
          "cudaMemcpyAsync");
}

float *acquire(size_t n)
{
    auto *memory = static_cast<float *>(std::malloc(sizeof(float) * n));
    check(cudaHostRegister(memory, sizeof(float) * n, cudaHostRegisterDefault), "cudaHostRegister");
    return memory;
}

void release(float *memory)
{
    check(cudaHostUnregister(memory), "cudaHostUnregister");
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
    double of_thread = 0;
    for (int i = blockIdx.x * block_size + threadIdx.x; i < n; i += gridDim.x * block_size) {
        double x = values[i], product = x;
        for (int k = 1; k < power; ++k) product *= x;
        of_thread += product;
    }
    add_to_sum(of_thread, sum);
}

// As many bytes as `mapped` has.
size_t sum_mapped_scratch(int n) { return sizeof(float) * n; }

void sum_mapped(const float *mapped, int n, int passes, double *out, void *scratch)
{
    const float *values = mapped;
    check(cudaMemsetAsync(out, 0, sizeof(double) * passes), "cudaMemsetAsync");
    if (n == 0) return;
    check(cudaMemcpyAsync(scratch, mapped, sizeof(float) * n, cudaMemcpyHostToDevice),
          "cudaMemcpyAsync");
    values = static_cast<const float *>(scratch);
    int blocks = blocks_for(n) < 1024 ? blocks_for(n) : 1024;
    for (int p = 0; p < passes; ++p) add_powers<<<blocks, block_size>>>(values, n, p + 1, out + p);
    check_launch("add_powers");
}

static __global__ void scale(float *managed, int n, float factor)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) managed[i] *= factor;
}

void scale_managed(float *managed, int n, float factor, int rounds)
{
    if (n == 0) return;
    cudaMemLocation here{};
    here.type = cudaMemLocationTypeDevice;
    check(cudaGetDevice(&here.id), "cudaGetDevice");
    int by_page = 0;
    check(cudaDeviceGetAttribute(&by_page, cudaDevAttrConcurrentManagedAccess, here.id),
          "cudaDeviceGetAttribute");
    if (by_page)
        check(cudaMemPrefetchAsync(managed, sizeof(float) * n, here, 0), "cudaMemPrefetchAsync");
    for (int k = 0; k < rounds; ++k) scale<<<blocks_for(n), block_size>>>(managed, n, factor);
    check_launch("scale");
}
