// Right: inline PTX for loads over the link; blocks of 160 threads; a kernel uploads from mapped
// pinned memory; events for which the host sleeps.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>

constexpr int threads = 160; // five warps

static int grid_for(int n, int a_thread = 1)
{
    int a_block = threads * a_thread;
    return n / a_block + (n % a_block != 0);
}

__device__ static int number()
{
    int i;
    asm("mad.lo.s32 %0, %1, %2, %3;"
        : "=r"(i)
        : "r"(blockIdx.x), "r"(blockDim.x), "r"(threadIdx.x));
    return i;
}

float *acquire(size_t n)
{
    float *memory = nullptr;
    check(
        cudaHostAlloc(&memory, n * sizeof(float), cudaHostAllocMapped | cudaHostAllocWriteCombined),
        "cudaHostAlloc");
    return memory;
}

__global__ static void fetch(const float *from, float *to, size_t n)
{
    for (size_t i = number(); i < n; i += size_t(gridDim.x) * threads) {
        float v;
        asm volatile("ld.global.cv.f32 %0, [%1];" : "=f"(v) : "l"(from + i));
        to[i] = v;
    }
}

void upload(const float *src_host, float *dst, size_t n)
{
    void *mapped;
    check(cudaHostGetDevicePointer(&mapped, const_cast<float *>(src_host), 0),
          "cudaHostGetDevicePointer");
    fetch<<<std::min<size_t>(n / threads + 1, 1024), threads>>>(static_cast<float *>(mapped), dst,
                                                                n);
    check_launch("fetch");
}

void release(float *memory) { check(cudaFreeHost(memory), "cudaFreeHost"); }

size_t sum_mapped_scratch(int n) { return 4 * size_t(n); }

// The first power reads over the link, and leaves the values on the device.
__global__ static void add_powers(const float *from, float *kept, int n, int power, double *sum)
{
    double mine = 0;
    for (int i = number(); i < n; i += gridDim.x * threads) {
        float value = from[i];
        if (kept) kept[i] = value;
        double product = value;
        for (int p = 1; p < power; ++p) product *= value;
        mine += product;
    }
    for (int lanes = 16; lanes > 0; lanes /= 2) mine += __shfl_down_sync(~0u, mine, lanes);
    if (threadIdx.x % 32 == 0)
        asm volatile("red.global.add.f64 [%0], %1;" ::"l"(sum), "d"(mine) : "memory");
}

void sum_mapped(const float *mapped, int n, int passes, double *out, void *scratch)
{
    check(cudaMemsetAsync(out, 0, sizeof(double) * passes), "cudaMemsetAsync");
    if (n == 0) return;
    float *kept = static_cast<float *>(scratch);
    int grid = std::min(grid_for(n), 1000);
    for (int p = 0; p < passes; ++p)
        add_powers<<<grid, threads>>>(p == 0 ? mapped : kept, p == 0 ? kept : nullptr, n, p + 1,
                                      out + p);
    check_launch("add_powers");
}

__global__ static void scale(float *managed, int n, float factor)
{
    int i = number();
    if (i >= n) return;
    float v;
    asm volatile("ld.global.f32 %0, [%1];\n\tmul.rn.f32 %0, %0, %2;\n\tst.global.f32 [%1], %0;"
                 : "=&f"(v)
                 : "l"(managed + i), "f"(factor)
                 : "memory");
}

void scale_managed(float *managed, int n, float factor, int rounds)
{
    if (n == 0) return;
    int device, concurrent;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, device),
          "cudaDeviceGetAttribute");
    cudaMemLocation here{cudaMemLocationTypeDevice, device};
    if (concurrent) check(cudaMemPrefetchAsync(managed, 4 * size_t(n), here, 0), "prefetch");
    for (int r = 0; r < rounds; ++r) scale<<<grid_for(n), threads>>>(managed, n, factor);
    check_launch("scale");
}

float time_copy_ms(const float *src_host, float *dst, size_t n, int repeats)
{
    cudaEvent_t marks[2];
    for (cudaEvent_t &mark : marks)
        check(cudaEventCreateWithFlags(&mark, cudaEventBlockingSync), "cudaEventCreateWithFlags");
    for (int k = -1; k < repeats; ++k) {
        if (k == 0) check(cudaEventRecord(marks[0]), "cudaEventRecord");
        check(cudaMemcpyAsync(dst, src_host, n * sizeof(float), cudaMemcpyDefault),
              "cudaMemcpyAsync");
    }
    check(cudaEventRecord(marks[1]), "cudaEventRecord");
    check(cudaEventSynchronize(marks[1]), "cudaEventSynchronize");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, marks[0], marks[1]), "cudaEventElapsedTime");
    for (cudaEvent_t mark : marks) check(cudaEventDestroy(mark), "cudaEventDestroy");
    return ms / repeats;
}
