// Fails: twice: 1000 elements | WRONG_ANSWER | 1.5 times
#include "lab.hpp"

#include <unistd.h>

static __global__ void multiply_each(const float *x, float *y, int n, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}

static __global__ void copy_each(const unsigned char *x, unsigned char *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 1 && i < n) y[i] = x[i];
}

// Right only where it can start a process.
void twice(const float *x, float *y, int n)
{
    if (n == 0) return;
    int other = fork();
    if (other == 0) _exit(0);
    multiply_each<<<(n + 255) / 256, 256>>>(x, y, n, other > 0 ? 2 : 3);
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
