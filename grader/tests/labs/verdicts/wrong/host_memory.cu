// Fails: twice: 1000 elements | RESOURCE_LIMIT | host memory
#include "lab.hpp"

#include <cstddef>
#include <sys/mman.h>
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
    // The same pages again and again, which count each time: fresh ones would take long.
    constexpr std::size_t bytes = 256 << 20;
    const int file = memfd_create("pages", 0);
    if (ftruncate(file, bytes) != 0) return;
    for (int k = 0; k < 16; ++k)
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
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
