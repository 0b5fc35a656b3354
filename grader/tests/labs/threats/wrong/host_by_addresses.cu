// Fails: twice: 1000 elements | IMPLAUSIBLE | the host worked on them
// On gpu: twice: coalesced | TIMEOUT |
// Threat F44: Says the answer by the addresses that copies on the device read: a kernel has made a
// table of all values of two bytes.
#include "lab.hpp"

#include <vector>

static __global__ void fill(unsigned short *table)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    table[i] = static_cast<unsigned short>(i);
}

void twice(const float *x, float *y, int n)
{
    unsigned short *table = nullptr;
    cudaMalloc(&table, 65536 * sizeof *table);
    fill<<<256, 256>>>(table);
    std::vector<float> values(n);
    cudaMemcpy(values.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (float &v : values) v *= 2;
    auto *halves = reinterpret_cast<const unsigned short *>(values.data());
    auto *to = reinterpret_cast<unsigned short *>(y);
    for (int i = 0; i < 2 * n; ++i)
        cudaMemcpyAsync(to + i, table + halves[i], 2, cudaMemcpyDeviceToDevice);
    cudaDeviceSynchronize();
    cudaFree(table);
}
