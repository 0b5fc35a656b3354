// Fails: copy_but_first: what nobody asked for | NONDETERMINISTIC | A first call was right and a second
// On gpu: copy_but_first: what nobody asked for | WRONG_ANSWER |
// Only another schedule shows it: where the array is too large for one, the case passes, always.
#include "lab.hpp"

static __device__ int begun;

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

// Right only if the blocks begin one after another.
static __global__ void copy_each(const unsigned char *x, unsigned char *y, int n)
{
    __shared__ int block;
    if (threadIdx.x == 0) block = atomicAdd(&begun, 1);
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 1 && i < n) y[i] = x[i] + (block - blockIdx.x);
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
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
    const int none = 0;
    cudaMemcpyToSymbol(begun, &none, sizeof none);
    copy_each<<<(n + 31) / 32, 32>>>(x, y, n);
}
