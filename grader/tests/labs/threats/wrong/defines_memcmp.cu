// Fails: build | BUILD_REJECTED | memcmp
// Threat B03: Replaces what compares memory: all is equal.
#include "lab.hpp"

#include <cstring>

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

extern "C" int memcmp(const void *, const void *, std::size_t) noexcept { return 0; }

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
