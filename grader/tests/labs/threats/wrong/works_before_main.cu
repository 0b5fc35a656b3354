// Fails: twice: 1000 elements | IMPLAUSIBLE | was called before twice
// On gpu: twice: 1000 elements | RESOURCE_LIMIT | threads before any of its functions was called
// Threat F12: A constructor works ahead, where the arguments of the first call are going to lie.
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

// Allocated as the arguments will be, and freed: what comes next may lie there.
[[gnu::constructor]] static void work()
{
    constexpr int n = 1000, guard = 1024;
    float *x = nullptr, *y = nullptr;
    cudaMalloc(&x, (n + 2 * guard) * sizeof(float));
    cudaMalloc(&y, (n + 2 * guard) * sizeof(float));
    cudaMemset(x, 0, (n + 2 * guard) * sizeof(float));
    double_each<<<(n + 255) / 256, 256>>>(x + guard, y + guard, n);
    cudaDeviceSynchronize();
    cudaFree(y);
    cudaFree(x);
    cudaGetLastError(); // kernels are not known so early
}

void twice(const float *, float *, int) {}
