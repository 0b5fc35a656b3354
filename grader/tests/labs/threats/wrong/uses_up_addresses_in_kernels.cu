// Fails: build | BUILD_REJECTED | the runtime of kernels
// On gpu: build | BUILD_FAILED | __cudaCDP2GetErrorString
// Threat F49: Leaves no addresses for what a kernel asks of the runtime.
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

static __global__ void ask(int error)
{
    unsigned long long text;
    asm volatile("{ .param .b32 e; .param .b64 r; st.param.b32 [e], %1;\n"
                 "call.uni (r), __cudaCDP2GetErrorString, (e); ld.param.b64 %0, [r]; }"
                 : "=l"(text)
                 : "r"(error));
}

void twice(const float *x, float *y, int n)
{
    if (n <= 0) return;
    double_each<<<(n + 255) / 256, 256>>>(x, y, n);
    for (size_t bytes = size_t{1} << 37; bytes >= 4096;) {
        void *p = nullptr;
        if (cudaMalloc(&p, bytes) == cudaSuccess) {
            cudaFree(p);
        } else {
            cudaGetLastError();
            bytes /= 2;
        }
    }
    ask<<<1, 1>>>(2);
}
