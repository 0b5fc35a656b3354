// Lab 14, the solution: everything crosses the link to the host once.
//
// New: one kernel reads the mapped values and does all passes, so that no copy has to come first;
// one kernel does all rounds on the managed array.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;
constexpr int warps = block_size / 32;

static int pieces(size_t n, size_t of) { return static_cast<int>((n + of - 1) / of); }

static int current_device()
{
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    return device;
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

constexpr int max_passes = 16;

// Each element crosses the link once, for all passes together.
static __global__ void add_powers(const float *mapped, int n, int passes, double *out)
{
    double found[max_passes] = {};
    for (int i = blockIdx.x * block_size + threadIdx.x; i < n; i += gridDim.x * block_size) {
        double x = mapped[i], power = 1;
#pragma unroll
        for (int p = 0; p < max_passes; ++p)
            if (p < passes) found[p] += power *= x;
    }
    __shared__ double of_warps[max_passes][warps];
#pragma unroll
    for (int p = 0; p < max_passes; ++p) {
        for (int lanes = 16; lanes > 0; lanes /= 2)
            found[p] += __shfl_down_sync(0xffffffff, found[p], lanes);
        if (threadIdx.x % 32 == 0) of_warps[p][threadIdx.x / 32] = found[p];
    }
    __syncthreads();
    if (threadIdx.x >= passes) return;
    double sum = 0;
    for (double of_warp : of_warps[threadIdx.x]) sum += of_warp;
    atomicAdd(out + threadIdx.x, sum);
}

size_t sum_mapped_scratch(int) { return 0; }

void sum_mapped(const float *mapped, int n, int passes, double *out, void *)
{
    check(cudaMemsetAsync(out, 0, sizeof(double) * passes), "cudaMemsetAsync");
    if (n == 0) return;
    add_powers<<<min(pieces(n, block_size), 1024), block_size>>>(mapped, n, passes, out);
    check_launch("add_powers");
}

static __global__ void scale(float *managed, int n, float factor, int rounds)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    float x = managed[i];
    for (int k = 0; k < rounds; ++k) x *= factor;
    managed[i] = x;
}

void scale_managed(float *managed, int n, float factor, int rounds)
{
    if (n == 0) return;
    cudaMemLocation here{};
    here.type = cudaMemLocationTypeDevice;
    here.id = current_device();
    int by_page = 0; // else all pages move before every launch, and a prefetch fails
    check(cudaDeviceGetAttribute(&by_page, cudaDevAttrConcurrentManagedAccess, here.id),
          "cudaDeviceGetAttribute");
    if (by_page)
        check(cudaMemPrefetchAsync(managed, sizeof(float) * n, here, 0), "cudaMemPrefetchAsync");
    scale<<<pieces(n, block_size), block_size>>>(managed, n, factor, rounds);
    check_launch("scale");
}
