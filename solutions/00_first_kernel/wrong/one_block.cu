// Fails: saxpy: a last block that is not full | WRONG_ANSWER | From element 256 on everything is as it was
// On gpu: saxpy: a last block that is not full | WRONG_ANSWER |
// One block of 256 threads, whatever n is.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void saxpy_elements(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

void saxpy(float a, const float *x, float *y, int n)
{
    if (n > 0) saxpy_elements<<<1, block_size>>>(a, x, y, n);
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
