// Lab 00, worked: ten small kernels and their launches, from one block of threads to a sum in
// eight steps. The tree is the reduction with sequential addressing of Harris, "Optimizing Parallel
// Reduction in CUDA" (2007).
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

// Blocks of `per_block` threads that have at least n threads together.
static int blocks_for(int n, int per_block) { return (n + per_block - 1) / per_block; }

static __global__ void write_number(int *out) { out[threadIdx.x] = threadIdx.x; }

void who_am_i(int *out)
{
    write_number<<<1, 64>>>(out);
    check_launch("write_number");
}

static __global__ void add_one_each(float *x) { x[threadIdx.x] += 1; }

void add_one(float *x, int n)
{
    add_one_each<<<1, n>>>(x);
    check_launch("add_one_each");
}

static __global__ void saxpy_elements(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i]; // threads of the last block may have no element
}

void saxpy(float a, const float *x, float *y, int n)
{
    if (n == 0) return; // a grid has at least one block
    saxpy_elements<<<blocks_for(n, block_size), block_size>>>(a, x, y, n);
    check_launch("saxpy_elements");
}

void saxpy_blocks(float a, const float *x, float *y, int blocks)
{
    saxpy(a, x, y, blocks * block_size);
}

static __global__ void mirror_pixels(const unsigned char *in, unsigned char *out, int width,
                                     int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[y * width + width - 1 - x] = in[y * width + x];
}

void mirror(const unsigned char *in, unsigned char *out, int width, int height)
{
    dim3 block(16, 16);
    dim3 grid(blocks_for(width, block.x), blocks_for(height, block.y));
    mirror_pixels<<<grid, block>>>(in, out, width, height);
    check_launch("mirror_pixels");
}

void saxpy_host(float a, const float *x_host, float *y_host, int n)
{
    if (n == 0) return;
    size_t bytes = n * sizeof(float);
    float *x, *y;
    check(cudaMalloc(&x, bytes), "cudaMalloc");
    check(cudaMalloc(&y, bytes), "cudaMalloc");
    check(cudaMemcpy(x, x_host, bytes, cudaMemcpyHostToDevice), "cudaMemcpy of x_host");
    check(cudaMemcpy(y, y_host, bytes, cudaMemcpyHostToDevice), "cudaMemcpy of y_host");
    saxpy(a, x, y, n);
    // This copy waits until the kernel has ended.
    check(cudaMemcpy(y_host, y, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy of y");
    check(cudaFree(x), "cudaFree");
    check(cudaFree(y), "cudaFree");
}

static __global__ void do_nothing() {}

int launch_error(int threads)
{
    do_nothing<<<1, threads>>>();
    return cudaGetLastError(); // returns the error and clears it
}

static __global__ void subtract_neighbours(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1) out[i] = in[i + 1] - in[i];
}

void differences(const float *in, float *out, int n)
{
    subtract_neighbours<<<blocks_for(n, block_size), block_size>>>(in, out, n);
    check_launch("subtract_neighbours");
}

static __global__ void reverse_elements(int *data)
{
    __shared__ int copy[block_size];
    int t = threadIdx.x;
    copy[t] = data[t];
    __syncthreads(); // the element that this thread stores was copied by another one
    data[t] = copy[block_size - 1 - t];
}

void reverse_block(int *data)
{
    reverse_elements<<<1, block_size>>>(data);
    check_launch("reverse_elements");
}

static __global__ void add_up_block(const int *in, int *out)
{
    __shared__ int partial[block_size];
    int t = threadIdx.x;
    partial[t] = in[blockIdx.x * block_size + t];
    for (int half = block_size / 2; half > 0; half /= 2) {
        __syncthreads(); // outside the condition: all threads must reach it
        if (t < half) partial[t] += partial[t + half];
    }
    if (t == 0) out[blockIdx.x] = partial[0];
}

void block_sums(const int *in, int *out, int blocks)
{
    add_up_block<<<blocks, block_size>>>(in, out);
    check_launch("add_up_block");
}
