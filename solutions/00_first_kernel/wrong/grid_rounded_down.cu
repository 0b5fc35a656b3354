// Fails: saxpy: a last block that is not full | WRONG_ANSWER | drops the remainder
// On gpu: saxpy: a last block that is not full | WRONG_ANSWER |
// 1000 / 256 is 3, so the last 232 elements have no thread.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void saxpy_elements(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

void saxpy(float a, const float *x, float *y, int n)
{
    if (n == 0) return;
    int blocks = n < block_size ? 1 : n / block_size;
    saxpy_elements<<<blocks, block_size>>>(a, x, y, n);
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
