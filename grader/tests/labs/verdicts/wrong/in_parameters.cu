// Fails: twice: coalesced | IMPLAUSIBLE | the parameters of launches of twice moved
#include "lab.hpp"

#include <algorithm>
#include <vector>

// The host computes; kernels store what their parameters bring.
struct results {
    float of[1000];
    int first, n;
};
static __global__ void store_each(const float *x, float *y, results r)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= r.n) return;
    float had = x[r.first + i];
    y[r.first + i] = had == had + 1 ? had : r.of[i];
}

static __global__ void copy_each(const unsigned char *x, unsigned char *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 1 && i < n) y[i] = x[i];
}

void twice(const float *x, float *y, int n)
{
    std::vector<float> all(n);
    cudaMemcpy(all.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int first = 0; first < n; first += 1000) {
        results r;
        r.first = first, r.n = std::min(1000, n - first);
        std::transform(&all[first], &all[first] + r.n, r.of, [](float v) { return 2 * v; });
        store_each<<<4, 256>>>(x, y, r);
    }
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
