// Fails: twice: coalesced | IMPLAUSIBLE | any version must move
// On gpu: twice: coalesced | TOO_SLOW |
// Threat F44: Has a kernel copy to a variable of the program, which the host reads and writes.
#include "lab.hpp"

#include <vector>

constexpr int room = 1 << 15;
static __device__ float between[room];

static __global__ void leave(const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) between[i] = x[i];
}

static __global__ void fetch(float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = between[i];
}

void twice(const float *x, float *y, int n)
{
    std::vector<float> values(room);
    for (int at = 0; at < n; at += room) {
        const int part = min(n - at, room);
        leave<<<(part + 255) / 256, 256>>>(x + at, part);
        cudaMemcpyFromSymbol(values.data(), between, part * sizeof(float));
        for (int i = 0; i < part; ++i) values[i] *= 2;
        cudaMemcpyToSymbol(between, values.data(), part * sizeof(float));
        fetch<<<(part + 255) / 256, 256>>>(y + at, part);
    }
}
