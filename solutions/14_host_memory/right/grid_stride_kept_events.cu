// Right: grid-stride loops over 2 blocks per multiprocessor, sums in one reading, events that are
// created once and kept.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

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

float *acquire(size_t n)
{
    void *memory = nullptr;
    check(cudaHostAlloc(&memory, n * sizeof(float), cudaHostAllocPortable), "cudaHostAlloc");
    return static_cast<float *>(memory);
}

void upload(const float *src_host, float *dst, size_t n)
{
    check(cudaMemcpyAsync(dst, src_host, n * sizeof(float), cudaMemcpyHostToDevice),
          "cudaMemcpyAsync");
}

void release(float *memory) { check(cudaFreeHost(memory), "cudaFreeHost"); }

size_t sum_mapped_scratch(int) { return 0; }

// All powers of a value while it is here: each crosses the link once.
static __global__ void add_powers(const float *values, int n, int passes, double *sums)
{
    double sum[16] = {};
    FOR_ALL(i, n)
    {
        double value = values[i], power = 1;
#pragma unroll
        for (int p = 0; p < 16; ++p) {
            if (p >= passes) break;
            power *= value;
            sum[p] += power;
        }
    }
#pragma unroll
    for (int p = 0; p < 16; ++p) {
        if (p >= passes) break;
        for (int lanes = 16; lanes > 0; lanes /= 2)
            sum[p] += __shfl_down_sync(0xffffffff, sum[p], lanes);
        if (threadIdx.x % 32 == 0) atomicAdd(&sums[p], sum[p]);
    }
}

void sum_mapped(const float *mapped, int n, int passes, double *out, void *)
{
    check(cudaMemsetAsync(out, 0, passes * sizeof(double)), "cudaMemsetAsync");
    if (n == 0) return;
    add_powers<<<fixed_grid(), block_size>>>(mapped, n, passes, out);
    check_launch("add_powers");
}

static __global__ void scale(float *managed, int n, float factor, int rounds)
{
    FOR_ALL(i, n)
    {
        float value = managed[i];
        for (int r = 0; r < rounds; ++r) value *= factor;
        managed[i] = value;
    }
}

void scale_managed(float *managed, int n, float factor, int rounds)
{
    if (n == 0 || rounds == 0) return;
    cudaMemLocation here{};
    here.type = cudaMemLocationTypeDevice;
    check(cudaGetDevice(&here.id), "cudaGetDevice");
    if (attribute(cudaDevAttrConcurrentManagedAccess))
        check(cudaMemPrefetchAsync(managed, n * sizeof(float), here, 0), "cudaMemPrefetchAsync");
    scale<<<fixed_grid(), block_size>>>(managed, n, factor, rounds);
    check_launch("scale");
}

float time_copy_ms(const float *src_host, float *dst, size_t n, int repeats)
{
    static cudaEvent_t start = nullptr, stop = nullptr;
    if (!start) {
        check(cudaEventCreate(&start), "cudaEventCreate");
        check(cudaEventCreate(&stop), "cudaEventCreate");
    }
    size_t bytes = n * sizeof(float);
    check(cudaMemcpy(dst, src_host, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaEventRecord(start), "cudaEventRecord");
    for (int k = 0; k < repeats; ++k)
        check(cudaMemcpyAsync(dst, src_host, bytes, cudaMemcpyHostToDevice), "cudaMemcpyAsync");
    check(cudaEventRecord(stop), "cudaEventRecord");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start, stop), "cudaEventElapsedTime");
    return ms / static_cast<float>(repeats);
}
