// Lab 14, rung 4: no page fault.
//
// New: cudaMemPrefetchAsync moves all pages of the managed array to the device before the first
// kernel touches one.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

float *acquire(size_t n)
{
    void *memory = nullptr;
    check(cudaMallocHost(&memory, sizeof(float) * n), "cudaMallocHost");
    return static_cast<float *>(memory);
}

void upload(const float *src_host, float *dst, size_t n)
{
    check(cudaMemcpyAsync(dst, src_host, sizeof(float) * n, cudaMemcpyHostToDevice),
          "cudaMemcpyAsync");
}

void release(float *memory) { check(cudaFreeHost(memory), "cudaFreeHost"); }

// Adds the sums of a block's threads to *sum.
static __device__ void add_block(double found, double *sum)
{
    __shared__ double all[block_size];
    all[threadIdx.x] = found;
    for (int half = block_size / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) all[threadIdx.x] += all[threadIdx.x + half];
    }
    if (threadIdx.x == 0) atomicAdd(sum, all[0]);
}

static __global__ void add_powers(const float *mapped, int n, int power, double *sum)
{
    double found = 0;
    for (int i = blockIdx.x * block_size + threadIdx.x; i < n; i += gridDim.x * block_size) {
        double x = mapped[i], product = x;
        for (int k = 1; k < power; ++k) product *= x;
        found += product;
    }
    add_block(found, sum);
}

size_t sum_mapped_scratch(int n) { return sizeof(float) * n; }

void sum_mapped(const float *mapped, int n, int passes, double *out, void *scratch)
{
    check(cudaMemsetAsync(out, 0, sizeof(double) * passes), "cudaMemsetAsync");
    if (n == 0) return;
    // One crossing for all passes; for a single pass, reading mapped memory is as good.
    if (passes > 1) {
        check(cudaMemcpyAsync(scratch, mapped, sizeof(float) * n, cudaMemcpyHostToDevice),
              "cudaMemcpyAsync");
        mapped = static_cast<const float *>(scratch);
    }
    for (int p = 0; p < passes; ++p)
        add_powers<<<min(blocks_for(n), 2048), block_size>>>(mapped, n, p + 1, out + p);
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
    check(cudaMemAdvise(managed, sizeof(float) * n, cudaMemAdviseSetPreferredLocation, here),
          "cudaMemAdvise");
    check(cudaMemPrefetchAsync(managed, sizeof(float) * n, here, 0), "cudaMemPrefetchAsync");
    for (int k = 0; k < rounds; ++k) scale<<<blocks_for(n), block_size>>>(managed, n, factor);
    check_launch("scale");
}

float time_copy_ms(const float *src_host, float *dst, size_t n, int repeats)
{
    auto copy = [=] {
        check(cudaMemcpyAsync(dst, src_host, sizeof(float) * n, cudaMemcpyHostToDevice),
              "cudaMemcpyAsync");
    };
    cudaEvent_t start, stop;
    check(cudaEventCreate(&start), "cudaEventCreate");
    check(cudaEventCreate(&stop), "cudaEventCreate");
    copy(); // the first may include set-up work of the driver
    check(cudaEventRecord(start), "cudaEventRecord");
    for (int k = 0; k < repeats; ++k) copy();
    check(cudaEventRecord(stop), "cudaEventRecord");
    float ms = 0;
    check(cudaEventSynchronize(stop), "cudaEventSynchronize");
    check(cudaEventElapsedTime(&ms, start, stop), "cudaEventElapsedTime");
    check(cudaEventDestroy(start), "cudaEventDestroy");
    check(cudaEventDestroy(stop), "cudaEventDestroy");
    return ms / repeats;
}
