// Fails: copy_but_first: what nobody asked for | OUT_OF_BOUNDS | In a call by the host, cudaFree
// On gpu: twice: coalesced | TOO_SLOW | 12.5 %
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    // A run of elements a thread: neighbouring threads are a run apart.
    int threads = gridDim.x * blockDim.x, run = (n + threads - 1) / threads;
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * run;
    for (int i = first; i < min(first + run, n); ++i) y[i] = 2 * x[i];
}

static __global__ void copy_each(const unsigned char *x, unsigned char *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 1 && i < n) y[i] = x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<2, 256>>>(x, y, n);
}

long long sum(const int *values_host, int n)
{
    long long total = 0;
    for (int i = 0; i < n; ++i) total += values_host[i];
    return total;
}

void twice_but_last(float *data, int n) { twice(data, data, n - 1); }

void copy_but_first(const unsigned char *x, unsigned char *y, int n)
{
    unsigned char *kept = nullptr;
    cudaMalloc(&kept, n);
    copy_each<<<(n + 255) / 256, 256>>>(x, y, n);
    cudaFree(kept);
    cudaFree(kept);
    cudaGetLastError();
}
