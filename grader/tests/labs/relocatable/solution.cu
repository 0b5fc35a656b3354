// A kernel that another one launches; its addition is a device function that the compiler may not
// inline, and that the device linker finds.
#include "lab.hpp"

__device__ __noinline__ int plus_one(int x) { return x + 1; }

static __global__ void increment_each(const int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = plus_one(x[i]);
}

static __global__ void launch(const int *x, int *y, int n)
{
    increment_each<<<(n + 255) / 256, 256>>>(x, y, n);
}

void increment(const int *x, int *y, int n) { launch<<<1, 1>>>(x, y, n); }

static __global__ void nothing() {}

static __global__ void launch_many(int *refused, int n)
{
    *refused = 0;
    for (int i = 0; i < n; ++i) {
        nothing<<<1, 1>>>();
        *refused += cudaGetLastError() == cudaErrorLaunchPendingCountExceeded;
    }
}

void count_refused(int *refused, int n) { launch_many<<<1, 1>>>(refused, n); }
