// Fails: twice: 1000 elements | OUTPUT_LIMIT | more than 8 MiB
// Threat C14: Every thread prints, many times.
#include "lab.hpp"

#include <cstdio>

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 2000; ++k)
        printf("thread %d says what nobody asked it, and says it again, round %d of 2000\n", i, k);
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 256 << 20);
    cudaGetLastError();
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
