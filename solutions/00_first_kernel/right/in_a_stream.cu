// Right: one allocation for both arrays, and a stream for the copies and the kernel.
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
    size_t bytes = n * sizeof(float);
    cudaStream_t stream;
    float *both;
    check(cudaStreamCreate(&stream), "cudaStreamCreate");
    check(cudaMallocAsync(&both, 2 * bytes, stream), "cudaMallocAsync");
    check(cudaMemcpyAsync(both, x_host, bytes, cudaMemcpyHostToDevice, stream), "copy of x");
    check(cudaMemcpyAsync(both + n, y_host, bytes, cudaMemcpyHostToDevice, stream), "copy of y");
    saxpy_elements<<<(n + 1023) / 1024, 1024, 0, stream>>>(a, both, both + n, n);
    check(cudaMemcpyAsync(y_host, both + n, bytes, cudaMemcpyDeviceToHost, stream), "copy back");
    check(cudaFreeAsync(both, stream), "cudaFreeAsync");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    check(cudaStreamDestroy(stream), "cudaStreamDestroy");
}

static __global__ void do_nothing() {}

int launch_error(int threads)
{
    void *no_arguments[1] = {};
    cudaError_t error = cudaLaunchKernel(do_nothing, dim3(1), dim3(threads), no_arguments, 0, 0);
    cudaGetLastError();
    return error;
}

// Not begun.
void who_am_i(int *) {}
void add_one(float *, int) {}
void saxpy_blocks(float, const float *, float *, int) {}
void saxpy(float, const float *, float *, int) {}
void mirror(const unsigned char *, unsigned char *, int, int) {}
void differences(const float *, float *, int) {}
void reverse_block(int *) {}
void block_sums(const int *, int *, int) {}
