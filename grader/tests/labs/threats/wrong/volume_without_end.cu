// Fails: twice: 1000 elements | CUDA_ERROR | cudaMemcpy3D
// On gpu: twice: 1000 elements | CUDA_ERROR | cudaErrorInvalidPitchValue
// Threat F45: Has more bytes copied than a number can count.
#include "lab.hpp"

#include <vector>

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n <= 0) return;
    double_each<<<(n + 255) / 256, 256>>>(x, y, n);
    constexpr size_t row = size_t{1} << 20, slices = size_t{1} << 44;
    void *there = nullptr;
    cudaMalloc(&there, row);
    cudaMemset(there, 0x41, row);
    std::vector<char> here(row);
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(there, row, row, 0); // all slices lie at one place
    p.dstPtr = make_cudaPitchedPtr(here.data(), row, row, 0);
    p.extent = make_cudaExtent(row, 1, slices);
    p.kind = cudaMemcpyDeviceToHost;
    cudaMemcpy3D(&p);
    cudaFree(there);
}
