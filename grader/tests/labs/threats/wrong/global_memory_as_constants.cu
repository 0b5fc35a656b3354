// Fails: twice: 1000 elements | OUT_OF_BOUNDS | a read of 4 bytes
// On gpu: may pass - what such loads find there is not said
// Threat F57: Loads global memory as if it were constant memory, which is not counted as moved.
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v;
    asm volatile("ld.const.f32 %0, [%1];" : "=f"(v) : "l"(x + i));
    y[i] = 2 * v;
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
