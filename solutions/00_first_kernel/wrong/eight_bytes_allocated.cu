// Fails: saxpy_host: 1000 elements | CUDA_ERROR | are the size of a pointer
// On gpu: may pass - a device gives more than 8 bytes
// The size of a pointer is allocated, not that of the array.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void saxpy_elements(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

static void launch(float a, const float *x, float *y, int n)
{
    saxpy_elements<<<(n + block_size - 1) / block_size, block_size>>>(a, x, y, n);
}

void saxpy_host(float a, const float *x_host, float *y_host, int n)
{
    if (n == 0) return;
    size_t bytes = n * sizeof(float);
    float *x, *y;
    check(cudaMalloc(&x, sizeof(x)), "cudaMalloc");
    check(cudaMalloc(&y, sizeof(y)), "cudaMalloc");
    check(cudaMemcpy(x, x_host, bytes, cudaMemcpyHostToDevice), "copy of x");
    check(cudaMemcpy(y, y_host, bytes, cudaMemcpyHostToDevice), "copy of y");
    launch(a, x, y, n);
    check(cudaMemcpy(y_host, y, bytes, cudaMemcpyDeviceToHost), "copy back");
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
