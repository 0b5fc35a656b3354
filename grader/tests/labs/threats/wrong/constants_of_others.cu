// Fails: twice: 1000 elements | OUT_OF_BOUNDS | reached outside its memory
// On gpu: may pass - what such a load reads there, no document says
// Threat F57: Loads of constants from global memory would be neither counted nor watched.
#include "lab.hpp"

static __global__ void double_all(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v;
    asm volatile("ld.const.f32 %0, [%1];" : "=f"(v) : "l"(x + i));
    y[i] = 2 * v;
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_all<<<(n + 255) / 256, 256>>>(x, y, n);
}
