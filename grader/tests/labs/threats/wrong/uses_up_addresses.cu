// Fails: twice: 1000 elements | CUDA_ERROR | cudaErrorLaunchFailure
// On gpu: twice: 1000 elements | TIMEOUT | No result after 10 s
// Threat F45: Leaves no addresses for what a cooperative launch needs.
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
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
    int one = 1;
    void *arguments[] = {&x, &y, &one};
    cudaLaunchCooperativeKernel(double_each, dim3(1), dim3(32), arguments, 0, nullptr);
    cudaDeviceSynchronize();
}
