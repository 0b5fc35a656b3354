// Fails: twice: 1000 elements | CUDA_ERROR | cudaMemcpy3D
// On gpu: may pass - what a driver makes of such a handle is its own affair
// Threat F45: Has the device follow a handle that nobody made.
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
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t to = nullptr;
    cudaMallocArray(&to, &format, 32);
    cudaMemcpy3DParms p = {};
    p.dstArray = to;
    p.srcArray = reinterpret_cast<cudaArray_t>(0x10);
    p.extent = make_cudaExtent(32, 1, 1);
    p.kind = cudaMemcpyDeviceToDevice;
    cudaMemcpy3D(&p);
    cudaFreeArray(to);
}
