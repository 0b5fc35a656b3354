// Fails: twice: coalesced | IMPLAUSIBLE | most were moved for nothing
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int threads = gridDim.x * blockDim.x, run = (n + threads - 1) / threads;
    for (int k = i * run; k < min(i * run + run, n); ++k) y[k] = 2 * x[k];
}

static __global__ void copy_each(const unsigned char *x, unsigned char *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 1 && i < n) y[i] = x[i];
}

// Much is loaded well, and for nothing, so that what is loaded badly is a small share.
static __global__ void dilute(const float *x, float *y, int n)
{
    const volatile float *from = x;
    float sum = 0;
    for (int round = 0; round < 200; ++round)
        for (int i = threadIdx.x; i < n; i += blockDim.x) sum += from[i];
    if (sum == 12345.678f) y[0] = sum;
}

void twice(const float *x, float *y, int n)
{
    if (n == 0) return;
    double_each<<<2, 256>>>(x, y, n);
    dilute<<<1, 256>>>(x, y, n);
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
