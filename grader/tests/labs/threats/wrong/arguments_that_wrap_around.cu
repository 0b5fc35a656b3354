// Fails: twice: 1000 elements | CUDA_ERROR | an alignment of 1073741824 bytes
// On gpu: build | BUILD_FAILED |
// Threat F47: Has arguments laid out at offsets that wrap around, to reach what lies behind them.
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

static __global__ void smash()
{
    asm volatile("{ .param .b32 a; .param .align 1073741824 .b8 b[64];\n"
                 ".param .align 4294967295 .b32 c;\n"
                 "st.param.b32 [b+0], 1094795585; }");
}

void twice(const float *x, float *y, int n)
{
    if (n <= 0) return;
    smash<<<1, 1>>>();
    double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
