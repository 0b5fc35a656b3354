// Fails: sum_mapped: no values | NOT_WRITTEN | It launched no kernel
// On gpu: sum_mapped: no values | NOT_WRITTEN |
// Without elements there is nothing to add, and nothing is written.
#include "lab.hpp"

#include <cuda_runtime.h>

// A block has all of one power.
static __global__ void add_powers(const float *values, int n, double *out)
{
    __shared__ double of_warp[8];
    double sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        double power = 1;
        for (int p = 0; p <= blockIdx.x; ++p) power *= values[i];
        sum += power;
    }
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_down_sync(0xffffffff, sum, lanes);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int w = 1; w < 8; ++w) sum += of_warp[w];
    out[blockIdx.x] = sum;
}

size_t sum_mapped_scratch(int n) { return sizeof(float) * n; }
void sum_mapped(const float *mapped, int n, int passes, double *out, void *scratch)
{
    if (n == 0) return;
    cudaMemcpyAsync(scratch, mapped, sizeof(float) * n, cudaMemcpyDefault);
    add_powers<<<passes, 256>>>(static_cast<const float *>(scratch), n, out);
}

// Not begun.
float *acquire(size_t) { return nullptr; }
void upload(const float *, float *, size_t) {}
void release(float *) {}
void scale_managed(float *, int, float, int) {}
float time_copy_ms(const float *, float *, size_t, int) { return 0; }
