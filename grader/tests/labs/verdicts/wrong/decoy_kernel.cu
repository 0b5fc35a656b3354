// Fails: twice: coalesced | IMPLAUSIBLE | what cudaMemcpy brought
#include "lab.hpp"

#include <cuda_runtime.h>

#include <vector>

// Reads and writes what a right kernel would; the answer comes from the host.
static __global__ void pretend(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}

static __global__ void copy_each(const unsigned char *x, unsigned char *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 1 && i < n) y[i] = x[i];
}

void twice(const float *x, float *y, int n)
{
    pretend<<<(n + 255) / 256, 256>>>(x, y, n);
    std::vector<float> on_host(n);
    cudaMemcpy(on_host.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (float &v : on_host) v *= 2;
    cudaMemcpy(y, on_host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
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
    copy_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
