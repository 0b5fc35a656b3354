// Fails: twice: 1000 elements | CUDA_ERROR | an alignment of 1073741824 bytes
// On gpu: build | BUILD_FAILED |
// Threat F47: The same by the parameters of a kernel, which it registers by itself.
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

static __global__ void carrier()
{
    asm volatile("ret;\n}\n.visible .entry evil(.param .b64 a, .param .align 1073741824 .b64 b,\n"
                 ".param .align 4294967295 .b64 c)\n{\nret;\n");
}

extern "C" void __cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *,
                                       uint3 *, dim3 *, dim3 *, int *);
static char evil;
static const bool registered =
    (__cudaRegisterFunction((void **)1, &evil, &evil, "evil", -1, 0, 0, 0, 0, 0), true);

void twice(const float *x, float *y, int n)
{
    if (n <= 0 || !registered) return;
    unsigned long long value = 0x4141414141414141;
    void *arguments[] = {&value, &value, &value};
    cudaLaunchKernel((void *)&evil, dim3(1), dim3(1), arguments, 0, nullptr);
    carrier<<<1, 1>>>();
    double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
