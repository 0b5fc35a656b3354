// Lab 14, rung 4: no page fault.
//
// New: cudaMemPrefetchAsync moves all pages of the managed array to the device before the first
// kernel touches one. Where kernels cannot fetch pages, the runtime moves all of them before every
// launch, and refuses both calls.
// Unchanged: acquire, upload, release, sum_mapped, time_copy_ms.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

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
    if (by_page) {
        check(cudaMemAdvise(managed, sizeof(float) * n, cudaMemAdviseSetPreferredLocation, here),
              "cudaMemAdvise");
        check(cudaMemPrefetchAsync(managed, sizeof(float) * n, here, 0), "cudaMemPrefetchAsync");
    }
    for (int k = 0; k < rounds; ++k) scale<<<blocks_for(n), block_size>>>(managed, n, factor);
    check_launch("scale");
}
