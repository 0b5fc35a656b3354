// Fails: twice: coalesced | TOO_SLOW | sector bytes used by loads
// On gpu: twice: coalesced | TOO_SLOW |
// Threat C12: Changes the device's limits and settings, and is as slow as naive.
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    // Strided, as naive is.
    int threads = gridDim.x * blockDim.x, run = (n + threads - 1) / threads;
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * run;
    for (int i = first; i < min(first + run, n); ++i) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20);
    cudaDeviceSetLimit(cudaLimitStackSize, 4096);
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 16 << 20);
    cudaDeviceSetCacheConfig(cudaFuncCachePreferL1);
    cudaSetDeviceFlags(cudaDeviceScheduleYield);
    cudaGetLastError();
    if (n > 0) double_each<<<64, 256>>>(x, y, n);
}
