// Passes: the first call is no part of what is timed
// Threat E20: Is right and fast, but for its first call.
#include "lab.hpp"

#include <chrono>
#include <thread>

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    static bool warm = false;
    if (!warm) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    warm = true;
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
