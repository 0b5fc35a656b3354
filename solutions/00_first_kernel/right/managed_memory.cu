// Right: saxpy_host works in managed memory, which the host fills and reads itself.
#include "../check.hpp"
#include "lab.hpp"

#include <cstring>
#include <cuda_runtime.h>

static __global__ void saxpy_elements(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

void saxpy_host(float a, const float *x_host, float *y_host, int n)
{
    if (n == 0) return;
    size_t bytes = n * sizeof(float);
    float *x, *y;
    check(cudaMallocManaged(&x, bytes), "cudaMallocManaged");
    check(cudaMallocManaged(&y, bytes), "cudaMallocManaged");
    std::memcpy(x, x_host, bytes);
    std::memcpy(y, y_host, bytes);
    saxpy_elements<<<(n + 127) / 128, 128>>>(a, x, y, n);
    check(cudaDeviceSynchronize(), "saxpy_elements");
    std::memcpy(y_host, y, bytes);
    check(cudaFree(x), "cudaFree");
    check(cudaFree(y), "cudaFree");
}

// Not begun.
void who_am_i(int *) {}
void add_one(float *, int) {}
void saxpy_blocks(float, const float *, float *, int) {}
void saxpy(float, const float *, float *, int) {}
void mirror(const unsigned char *, unsigned char *, int, int) {}
int launch_error(int) { return -1; }
void differences(const float *, float *, int) {}
void reverse_block(int *) {}
void block_sums(const int *, int *, int) {}
