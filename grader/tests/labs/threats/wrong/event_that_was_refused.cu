// Fails: twice: 1000 elements | CUDA_ERROR | cudaEventRecord
// On gpu: twice: 1000 elements | CUDA_ERROR | still capturing
// Threat F58: Asks how long it is between events that a capture kept from being recorded.
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
    cudaEvent_t event;
    cudaStream_t stream;
    float ms = 0;
    cudaEventCreate(&event);
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    cudaEventRecord(event, 0);
    cudaEventElapsedTime(&ms, event, event);
}
