// Fails: twice: coalesced | IMPLAUSIBLE | any version must move
// On gpu: twice: coalesced | TOO_SLOW |
// Threat F44: Has kernels copy to memory of the host that it registered, and back.
#include "lab.hpp"

#include <stdlib.h>

static __global__ void copy_each(const float *from, float *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}

void twice(const float *x, float *y, int n)
{
    static float *between = nullptr, *for_kernels = nullptr;
    if (!between) {
        between = static_cast<float *>(aligned_alloc(4096, sizeof(float) << 24));
        cudaHostRegister(between, sizeof(float) << 24, cudaHostRegisterMapped);
        cudaHostGetDevicePointer(&for_kernels, between, 0);
    }
    if (n == 0) return;
    copy_each<<<(n + 255) / 256, 256>>>(x, for_kernels, n);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; ++i) between[i] *= 2;
    copy_each<<<(n + 255) / 256, 256>>>(for_kernels, y, n);
    cudaDeviceSynchronize();
}
