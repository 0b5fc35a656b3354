// The time to beat: lanes stride through memory.
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    // A run of elements a thread: neighbouring threads are a run apart.
    int threads = gridDim.x * blockDim.x, run = (n + threads - 1) / threads;
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * run;
    for (int i = first; i < min(first + run, n); ++i) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<64, 256>>>(x, y, n);
}
