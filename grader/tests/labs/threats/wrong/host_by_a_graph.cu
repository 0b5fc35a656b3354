// Fails: twice: coalesced | IMPLAUSIBLE | any version must move
// On gpu: twice: coalesced | WRONG_ANSWER |
// Threat F44: Has a graph copy to the host, work there, and copy back, between kernels that do
// nothing of use.
#include "lab.hpp"

#include <vector>

static __global__ void copy_each(const float *from, float *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}

struct work {
    float *values;
    int n;
};

static void double_on_host(void *of)
{
    auto *w = static_cast<work *>(of);
    for (int i = 0; i < w->n; ++i) w->values[i] *= 2;
}

void twice(const float *x, float *y, int n)
{
    if (n == 0) return;
    std::vector<float> values(n);
    work all{values.data(), n};
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    copy_each<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
    cudaMemcpyAsync(all.values, y, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
    cudaLaunchHostFunc(stream, double_on_host, &all);
    cudaMemcpyAsync(y, all.values, n * sizeof(float), cudaMemcpyHostToDevice, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphLaunch(ready, stream);
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}
