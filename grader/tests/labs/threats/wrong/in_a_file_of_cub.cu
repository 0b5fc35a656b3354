// Fails: twice: 1000 elements | UNINITIALISED | shared memory
// On gpu: may pass - nothing there tells what was written
// Threat F65: Uses what nobody wrote, in lines that it says to be of a header that reads ahead.
#include "lab.hpp"

static __global__ void name_the_file()
{
    asm volatile("ret;\n}\n.file 99 \"/cub/block/block_merge_sort.cuh\"\n"
                 ".visible .entry another()\n{\nret;\n");
}

static __global__ void double_each(const float *x, float *y, int n, float nothing)
{
    __shared__ float unwritten[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v;
    asm volatile(".loc 99 1 1\n\tld.shared.f32 %0, [%1];"
                 : "=f"(v)
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(unwritten + threadIdx.x))));
    if (i < n) y[i] = 2 * x[i] + nothing * v;
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n, 0);
    if (n < 0) name_the_file<<<1, 1>>>();
}
