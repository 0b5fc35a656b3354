// Fails: twice: 1000 elements | SKIPPED | does not know the instruction
// On gpu: build | BUILD_FAILED |
// Threat F60: Has instructions write beyond their operands, into the simulator's memory.
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    asm volatile("{ .reg .pred %%p; mov.pred %%p, {85}; @%%p trap; }");
    asm volatile("{ .reg .u32 %%a; cvta.to.global.u32 %%a, 123; }");
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
