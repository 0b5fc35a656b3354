// Fails: twice: 1000 elements | CRASH | SIGSEGV
#include "lab.hpp"

// Counts as a right kernel would; the answer comes from the host.
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
    if (n == 0) return;
    pretend<<<(n + 255) / 256, 256>>>(x, y, n);
    cudaDeviceSynchronize();
    // Where the simulator's own window on device memory would be, if it lay beside.
    float *on_host = y + (1ull << 38) / sizeof(float);
    for (int i = 0; i < n; ++i) on_host[i] *= 2;
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
