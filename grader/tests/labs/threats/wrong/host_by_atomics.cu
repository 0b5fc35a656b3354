// Fails: twice: 1000 elements | IMPLAUSIBLE | the host worked on them
// On gpu: twice: coalesced | TOO_SLOW |
// Threat F44: Has atomics carry what the host works on to pinned memory, and back.
#include "lab.hpp"

constexpr int room = 1 << 15;

static __global__ void leave(const float *x, float *shared, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicExch(shared + i, x[i]);
}

static __global__ void fetch(float *y, float *shared, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = atomicAdd(shared + i, 0.0f);
}

void twice(const float *x, float *y, int n)
{
    float *shared = nullptr;
    cudaMallocHost(&shared, room * sizeof(float));
    for (int at = 0; at < n; at += room) {
        const int part = min(n - at, room);
        leave<<<(part + 255) / 256, 256>>>(x + at, shared, part);
        cudaDeviceSynchronize();
        for (int i = 0; i < part; ++i) shared[i] *= 2;
        fetch<<<(part + 255) / 256, 256>>>(y + at, shared, part);
        cudaDeviceSynchronize();
    }
    cudaFreeHost(shared);
}
