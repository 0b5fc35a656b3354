// Fails: twice: coalesced | IMPLAUSIBLE | what cudaMemcpy brought, no kernel computed
// Alone: its destructor would run in every process of files that are compiled with it.
#include "lab.hpp"

#include <cstdio>
#include <vector>

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

// The results come when somebody flushes all files: once the call has returned.
static float *late;
static std::vector<float> results;
static ssize_t write_late(void *, const char *, size_t bytes)
{
    float none = 0;
    cudaMemcpy(late, results.data(), results.size() * sizeof none, cudaMemcpyHostToDevice);
    return bytes;
}

void twice(const float *x, float *y, int n)
{
    if (n == 0) return;
    double_each<<<(n + 255) / 256, 256>>>(x, y, n);
    results.resize(n);
    cudaMemcpy(results.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemset(y, 0, n * sizeof(float));
    late = y;
    static FILE *file = fopencookie(nullptr, "w", {nullptr, write_late, nullptr, nullptr});
    std::fputs("x", file);
}

long long sum(const int *values_host, int n)
{
    long long total = 0;
    for (int i = 0; i < n; ++i) total += values_host[i];
    return total;
}

void twice_but_last(float *data, int n)
{
    if (n > 1) double_each<<<(n + 254) / 256, 256>>>(data, data, n - 1);
}

void copy_but_first(const unsigned char *x, unsigned char *y, int n)
{
    copy_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
