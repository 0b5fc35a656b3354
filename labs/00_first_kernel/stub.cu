// Lab 00, first kernel: the file to edit. What each function must do: lab.hpp.
// The lesson: handouts/00_first_kernel.md. Stuck at a TODO: ./workbook hint 00.
//
// A kernel stands above the function that launches it. check and check_launch
// report an error of the runtime; the handout says how.
#include "../check.hpp"
#include "lab.hpp"

#include <cstdio>
#include <cuda_runtime.h>

static __global__ void write_number(int *out)
{
    // TODO 1 (who_am_i): 64 threads run this. Thread t must store t in out[t].
    // Try printf here, too: ./workbook watch shows what your kernel prints.
}

void who_am_i(int *out)
{
    write_number<<<1, 64>>>(out);
    check_launch("write_number");
}

static __global__ void add_one_each(float *x)
{
    int t = threadIdx.x;
    x[t] = x[t] + 1;
}

void add_one(float *x, int n)
{
    // TODO 2 (add_one): The kernel above must run in one block of n threads.
    check_launch("add_one_each");
}

static __global__ void saxpy_whole_blocks(float a, const float *x, float *y)
{
    int i = threadIdx.x;
    // TODO 3 (saxpy_blocks): i must be the thread's number in the whole grid.
    // As it stands, each block has threads 0 to 255.
    y[i] = a * x[i] + y[i];
}

void saxpy_blocks(float a, const float *x, float *y, int blocks)
{
    saxpy_whole_blocks<<<blocks, block_size>>>(a, x, y);
    check_launch("saxpy_whole_blocks");
}

static __global__ void saxpy_elements(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO 4 (saxpy): A thread whose i is n or more must not touch x and y.
    y[i] = a * x[i] + y[i];
}

void saxpy(float a, const float *x, float *y, int n)
{
    // TODO 4 (saxpy): saxpy_elements must run with block_size threads per block
    // and at least n threads. If n is 0, nothing may be launched.
    check_launch("saxpy_elements");
}

static __global__ void mirror_pixels(const unsigned char *in, unsigned char *out, int width,
                                     int height)
{
    // TODO 5 (mirror): Each thread must move one pixel to its place. x runs
    // along a row, y counts the rows, and some threads lie outside the picture.
}

void mirror(const unsigned char *in, unsigned char *out, int width, int height)
{
    dim3 block(16, 16);
    dim3 grid((width + 15) / 16, (height + 15) / 16);
    mirror_pixels<<<grid, block>>>(in, out, width, height);
    check_launch("mirror_pixels");
}

void saxpy_host(float a, const float *x_host, float *y_host, int n)
{
    // TODO 6 (saxpy_host): y_host must hold the result, and what you allocate
    // must be free again. saxpy above takes pointers to device memory.
}

static __global__ void do_nothing() {}

int launch_error(int threads)
{
    int error = -1;
    // TODO 7 (launch_error): do_nothing must have been launched as one block of
    // `threads` threads, and `error` must be the error of that launch. A later
    // call of cudaGetLastError must return cudaSuccess.
    return error;
}

static __global__ void subtract_neighbours(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO 8 (differences): No thread may reach beyond the end of an array. n
    // elements have n - 1 differences. The next line is wrong; the grader says
    // which thread shows it.
    if (i < n) out[i] = in[i + 1] - in[i];
}

void differences(const float *in, float *out, int n)
{
    subtract_neighbours<<<(n + block_size - 1) / block_size, block_size>>>(in, out, n);
    check_launch("subtract_neighbours");
}

static __global__ void reverse_elements(int *data)
{
    __shared__ int copy[block_size];
    int t = threadIdx.x;
    copy[t] = data[t];
    // TODO 9 (reverse_block): All threads must have written to copy before one
    // of them reads from it.
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
    // TODO 10 (block_sums): out[blockIdx.x] must be the sum of all of partial.
    // Half of the threads add in the first step, a quarter in the next, and so
    // on. Before each step, the first too, all threads must wait for each other.
}

void block_sums(const int *in, int *out, int blocks)
{
    add_up_block<<<blocks, block_size>>>(in, out);
    check_launch("add_up_block");
}
