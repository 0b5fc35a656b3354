// Fails: saxpy: sizes around one block and two | LAUNCH_FAILED | Are the two numbers exchanged
// On gpu: saxpy: sizes around one block and two | LAUNCH_FAILED |
// The numbers of blocks and of threads per block have changed places, which works up to 1024
// blocks.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void saxpy_by_a_wide_block(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

void saxpy(float a, const float *x, float *y, int n)
{
    if (n == 0) return;
    int blocks = (n + block_size - 1) / block_size;
    saxpy_by_a_wide_block<<<block_size, blocks>>>(a, x, y, n);
}

// Not begun.
void who_am_i(int *) {}
void add_one(float *, int) {}
void saxpy_blocks(float, const float *, float *, int) {}
void mirror(const unsigned char *, unsigned char *, int, int) {}
void saxpy_host(float, const float *, float *, int) {}
int launch_error(int) { return -1; }
void differences(const float *, float *, int) {}
void reverse_block(int *) {}
void block_sums(const int *, int *, int) {}
