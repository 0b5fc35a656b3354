// Fails: twice: coalesced | TOO_SLOW | sector bytes used by loads
// On gpu: twice: coalesced | TOO_SLOW |
// Threat E10: Has the L2 cache keep its inputs from one call to the next, and is as slow as naive.
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
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 64 << 20);
    cudaStreamAttrValue kept = {};
    kept.accessPolicyWindow.base_ptr = const_cast<float *>(x);
    kept.accessPolicyWindow.num_bytes = n * sizeof(float);
    kept.accessPolicyWindow.hitRatio = 1;
    kept.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    kept.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    cudaStreamSetAttribute(nullptr, cudaStreamAttributeAccessPolicyWindow, &kept);
    cudaGetLastError(); // a stream or a device may not offer it
    if (n > 0) double_each<<<64, 256>>>(x, y, n);
}
