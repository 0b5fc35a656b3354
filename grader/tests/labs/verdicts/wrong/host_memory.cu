// Fails: twice: 1000 elements | RESOURCE_LIMIT | host memory
#include "lab.hpp"

#include <cstdlib>
#include <cstring>
#include <unistd.h>

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

static __global__ void copy_each(const unsigned char *x, unsigned char *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 1 && i < n) y[i] = x[i];
}

void twice(const float *x, float *y, int n)
{
    // Each process that comes of this one holds as much: fresh memory for all would take long.
    asm volatile("" : : "r"(std::memset(std::malloc(256 << 20), 1, 256 << 20)) : "memory");
    for (int k = 0; k < 16 && fork() != 0; ++k) continue;
    for (;;) pause();
    (void)x, (void)y, (void)n, (void)double_each;
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
