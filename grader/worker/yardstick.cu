// The kernels of yardstick.hpp.
#include "yardstick.hpp"

namespace {

constexpr int threads_per_block = 256; // of all kernels but multiply_add

__global__ void do_nothing() {}

__global__ void fill_words(unsigned *to, size_t n, unsigned value)
{
    size_t stride = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride)
        to[i] = value;
}

// Reads all of `from`. The sum practically never has this value, but because it could, the compiler
// must keep the loads.
__global__ void read_all(uint4 *from, size_t n)
{
    size_t stride = size_t(gridDim.x) * blockDim.x;
    unsigned sum = 0;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
        uint4 v = from[i];
        sum += v.x ^ v.y ^ v.z ^ v.w;
    }
    if (sum == 0x5bd1e995u) from[0].x = sum;
}

// Copies one float4 per thread: no other shape that was tried (2, 4 or 8 per thread, grid-stride
// loops) is faster on an H200, nor is cudaMemcpy.
__global__ void __launch_bounds__(threads_per_block)
    copy_each(const float4 *__restrict__ from, float4 *__restrict__ to, size_t n)
{
    size_t i = size_t(blockIdx.x) * threads_per_block + threadIdx.x;
    if (i < n) to[i] = from[i];
}

// `factor` and `summand` are arguments so that the compiler cannot precompute the chains. With
// 0.999 and 0.001 every chain converges to 1, without denormals or infinities.
__global__ void __launch_bounds__(yardstick::fma_threads)
    multiply_add(float *out, int iterations, float factor, float summand)
{
    float chain[yardstick::fma_chains];
#pragma unroll
    for (int c = 0; c < yardstick::fma_chains; ++c) chain[c] = float(threadIdx.x + c);
    for (int i = 0; i < iterations; ++i) {
#pragma unroll
        for (int u = 0; u < yardstick::fma_unroll; ++u)
#pragma unroll
            for (int c = 0; c < yardstick::fma_chains; ++c)
                chain[c] = fmaf(chain[c], factor, summand);
    }
    float sum = 0;
#pragma unroll
    for (int c = 0; c < yardstick::fma_chains; ++c) sum += chain[c];
    out[size_t(blockIdx.x) * yardstick::fma_threads + threadIdx.x] = sum;
}

} // namespace

void yardstick_null() { do_nothing<<<1, 1>>>(); }

int yardstick_memory_type(const float *at)
{
    cudaPointerAttributes found{};
    return cudaPointerGetAttributes(&found, at) == cudaSuccess ? found.type : -1;
}

float yardstick_upload_ms(const float *from_host, float *to, size_t n, int repeats)
{
    cudaEvent_t start = nullptr, stop = nullptr;
    float ms = -1;
    if (cudaEventCreate(&start) == cudaSuccess && cudaEventCreate(&stop) == cudaSuccess) {
        auto copy = [&] {
            cudaMemcpyAsync(to, from_host, n * sizeof(float), cudaMemcpyHostToDevice);
        };
        copy();
        cudaEventRecord(start);
        for (int k = 0; k < repeats; ++k) copy();
        cudaEventRecord(stop);
        const bool measured = cudaEventSynchronize(stop) == cudaSuccess &&
                              cudaEventElapsedTime(&ms, start, stop) == cudaSuccess;
        ms = measured ? ms / float(repeats) : -1;
    }
    if (start) cudaEventDestroy(start);
    if (stop) cudaEventDestroy(stop);
    return ms;
}

void yardstick_fill(unsigned *to, size_t words, unsigned pattern)
{
    constexpr size_t max_blocks = 1 << 16; // the grid-stride loop covers the rest
    size_t blocks = (words + threads_per_block - 1) / threads_per_block;
    if (blocks > max_blocks) blocks = max_blocks;
    if (blocks > 0) fill_words<<<unsigned(blocks), threads_per_block>>>(to, words, pattern);
}

void yardstick_flush(void *buffer, size_t bytes)
{
    if (size_t n = bytes / sizeof(uint4))
        read_all<<<2048, threads_per_block>>>(static_cast<uint4 *>(buffer), n);
}

void yardstick_copy(const float4 *from, float4 *to, size_t n)
{
    const size_t blocks = (n + threads_per_block - 1) / threads_per_block;
    if (n > 0) copy_each<<<unsigned(blocks), threads_per_block>>>(from, to, n);
}

void yardstick_fma(float *out, int blocks, int iterations)
{
    if (blocks > 0)
        multiply_add<<<blocks, yardstick::fma_threads>>>(out, iterations, 0.999f, 0.001f);
}
