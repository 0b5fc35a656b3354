// Right: no shared memory: sums go round by shuffles of cooperative groups; blocking copies, and an
// event behind each of them.
#include "../check.hpp"
#include "lab.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <vector>

#include <algorithm>

namespace cg = cooperative_groups;

constexpr int threads = 128;

static int blocks_for(int n, int a_block = threads) { return (n - 1) / a_block + 1; }

__device__ static auto this_warp() { return cg::tiled_partition<32>(cg::this_thread_block()); }

float *acquire(size_t n)
{
    float *memory;
    check(cudaMallocHost(&memory, n * sizeof *memory), "cudaMallocHost");
    return memory;
}

void upload(const float *src_host, float *dst, size_t n)
{
    check(cudaMemcpy(dst, src_host, n * sizeof *dst, cudaMemcpyDefault), "cudaMemcpy");
}

void release(float *memory) { check(cudaFreeHost(memory), "cudaFreeHost"); }

size_t sum_mapped_scratch(int n) { return sizeof(float) * n; }

__global__ static void add_powers(const float *values, int n, int power, double *sum)
{
    double mine = 0;
    for (int i = cg::this_grid().thread_rank(); i < n; i += cg::this_grid().num_threads()) {
        double product = values[i];
        for (int p = 1; p < power; ++p) product *= values[i];
        mine += product;
    }
    double of_warp = cg::reduce(this_warp(), mine, cg::plus<double>());
    if (this_warp().thread_rank() == 0) atomicAdd(sum, of_warp);
}

void sum_mapped(const float *mapped, int n, int passes, double *out, void *scratch)
{
    check(cudaMemsetAsync(out, 0, passes * sizeof(double)), "cudaMemsetAsync");
    if (n == 0) return;
    check(cudaMemcpyAsync(scratch, mapped, n * sizeof(float), cudaMemcpyDefault),
          "cudaMemcpyAsync");
    for (int p = 0; p < passes; ++p)
        add_powers<<<std::min(blocks_for(n), 1024), threads>>>(static_cast<float *>(scratch), n,
                                                               p + 1, out + p);
    check_launch("add_powers");
}

__global__ static void scale(float *managed, int n, float factor)
{
    int i = cg::this_grid().thread_rank();
    if (i < n) managed[i] *= factor;
}

void scale_managed(float *managed, int n, float factor, int rounds)
{
    if (n == 0) return;
    int device, fetches;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&fetches, cudaDevAttrConcurrentManagedAccess, device),
          "attribute");
    cudaMemLocation here{.type = cudaMemLocationTypeDevice, .id = device};
    if (fetches && rounds > 0)
        check(cudaMemPrefetchAsync(managed, n * sizeof(float), here, 0), "cudaMemPrefetchAsync");
    while (rounds-- > 0) scale<<<blocks_for(n), threads>>>(managed, n, factor);
    check_launch("scale");
}

float time_copy_ms(const float *src_host, float *dst, size_t n, int repeats)
{
    std::vector<cudaEvent_t> behind(repeats + 1);
    for (cudaEvent_t &each : behind) {
        check(cudaEventCreate(&each), "cudaEventCreate");
        check(cudaMemcpy(dst, src_host, n * sizeof *dst, cudaMemcpyHostToDevice), "cudaMemcpy");
        check(cudaEventRecord(each), "cudaEventRecord");
    }
    check(cudaEventSynchronize(behind.back()), "cudaEventSynchronize");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, behind.front(), behind.back()), "cudaEventElapsedTime");
    for (cudaEvent_t each : behind) check(cudaEventDestroy(each), "cudaEventDestroy");
    return ms / repeats;
}
