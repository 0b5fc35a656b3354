// Fails: reverse: as much scratch as it asks for | RESOURCE_LIMIT | earlier calls was not freed
#include "lab.hpp"

static __global__ void reverse_each(const int *x, int *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[n - 1 - i] + 1;
}

size_t reverse_scratch(int n) { return sizeof(int) * n; }

void reverse(const int *x, int *y, int n, void *)
{
    void *never_freed;
    for (size_t bytes = size_t{1} << 30; bytes >= 4096; bytes /= 2)
        while (cudaMalloc(&never_freed, bytes) == cudaSuccess) continue;
    cudaGetLastError();
    if (n > 0) reverse_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
