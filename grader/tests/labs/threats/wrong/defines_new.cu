// Fails: build | BUILD_REJECTED | replaces operator
// Threat B03: Replaces what allocates memory.
#include "lab.hpp"

#include <cstdlib>
#include <new>

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void *operator new(std::size_t bytes) { return std::malloc(bytes); }
void operator delete(void *p) noexcept { std::free(p); }

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
