// Fails: twice: other sizes | RESOURCE_LIMIT | memory of earlier calls was not freed
// Threat C09: Takes all memory of the device and keeps it.
#include "lab.hpp"

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
    void *kept = nullptr;
    for (std::size_t bytes = std::size_t{1} << 40; bytes >= 256; bytes /= 2)
        while (cudaMalloc(&kept, bytes) == cudaSuccess)
            ;
    cudaGetLastError();
}
