// Fails: twice: 1000 elements | IMPLAUSIBLE | The host saw
// On gpu: may pass - handles need not follow each other there
// Threat F51: The host computes, and what it found reaches kernels as the colours of borders.
#include "lab.hpp"

#include <vector>

// Handles are numbers that follow each other.
static __global__ void show(cudaTextureObject_t first, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 four = tex1D<float4>(first + i / 4, 5.0f);
    y[i] = i % 4 == 0 ? four.x : i % 4 == 1 ? four.y : i % 4 == 2 ? four.z : four.w;
}

void twice(const float *x, float *y, int n)
{
    if (n <= 0) return;
    cudaArray_t one = nullptr;
    cudaChannelFormatDesc format{32, 32, 32, 32, cudaChannelFormatKindFloat};
    cudaMallocArray(&one, &format, 1, 0, 0);
    std::vector<float> seen(n);
    cudaMemcpy(seen.data(), x, sizeof(float) * n, cudaMemcpyDeviceToHost);
    cudaResourceDesc place{};
    place.resType = cudaResourceTypeArray;
    place.res.array.array = one;
    cudaTextureDesc how{};
    for (auto &mode : how.addressMode) mode = cudaAddressModeBorder;
    cudaTextureObject_t first = 0, next = 0;
    for (int i = 0; i < n; i += 4) {
        for (int k = 0; k < 4; ++k) how.borderColor[k] = i + k < n ? 2 * seen[i + k] : 0;
        cudaCreateTextureObject(&next, &place, &how, nullptr);
        if (i == 0) first = next;
    }
    show<<<(n + 255) / 256, 256>>>(first, y, n);
}
