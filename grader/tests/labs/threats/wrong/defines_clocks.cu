// Fails: build | BUILD_REJECTED | replaces clock_gettime
// Threat B02: Brings clocks of its own, on which no time passes.
#include "lab.hpp"

#include <time.h>

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

extern "C" int clock_gettime(clockid_t, timespec *now) noexcept
{
    *now = {};
    return 0;
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
