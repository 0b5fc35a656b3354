// Fails: build | BUILD_REJECTED | steady_clock
// Threat B02: Brings the C++ clock that no time passes on.
#include "lab.hpp"

#include <chrono>

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

std::chrono::steady_clock::time_point std::chrono::steady_clock::now() noexcept { return {}; }

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
