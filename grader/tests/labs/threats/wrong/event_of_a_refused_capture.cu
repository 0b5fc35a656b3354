// Fails: twice: 1000 elements | CUDA_ERROR | cudaEventRecord
// Threat F58: An event that a capture refused to record is asked for its time.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void double_all(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    cudaStream_t captured;
    cudaEvent_t event;
    cudaGraph_t graph;
    float ms = 0;
    cudaStreamCreate(&captured);
    cudaEventCreate(&event);
    cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal);
    cudaEventRecord(event, 0);
    cudaEventElapsedTime(&ms, event, event);
    cudaStreamEndCapture(captured, &graph);
    if (n > 0) double_all<<<(n + 255) / 256, 256>>>(x, y, n);
}
