// Fails: twice: 1000 elements | RESOURCE_LIMIT | simulated device needed more than 4 GiB
// On gpu: may pass - the memory is a real device's
// Threat F32: Has the process that plays the device use up the machine's memory.
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    constexpr size_t bytes = 64 << 20;
    for (int k = 0; k < 40; ++k) { // 2.5 GiB: a submission may have 2
        void *filled = nullptr;
        if (cudaMalloc(&filled, bytes) != cudaSuccess) break;
        cudaMemset(filled, 1, bytes);
    }
    cudaGetLastError();
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
