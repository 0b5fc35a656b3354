// Fails: saxpy_host: 1000 elements | CUDA_ERROR | Copy the data to the device
// On gpu: saxpy_host: 1000 elements | CRASH | illegal memory access
// The kernel gets the pointers of the host.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void saxpy_elements(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

void saxpy_host(float a, const float *x_host, float *y_host, int n)
{
    if (n == 0) return;
    saxpy_elements<<<(n + block_size - 1) / block_size, block_size>>>(a, x_host, y_host, n);
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
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
