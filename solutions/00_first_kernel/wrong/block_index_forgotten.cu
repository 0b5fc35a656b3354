// Fails: saxpy_blocks: two blocks | RACE | the same i
// On gpu: saxpy_blocks: two blocks | WRONG_ANSWER |
// The stub as it is handed out: each block works on the first 256 elements.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void saxpy_whole_blocks(float a, const float *x, float *y)
{
    int i = threadIdx.x;
    y[i] = a * x[i] + y[i];
}

void saxpy_blocks(float a, const float *x, float *y, int blocks)
{
    saxpy_whole_blocks<<<blocks, block_size>>>(a, x, y);
}

// Not begun.
void who_am_i(int *) {}
void add_one(float *, int) {}
void saxpy(float, const float *, float *, int) {}
void mirror(const unsigned char *, unsigned char *, int, int) {}
void saxpy_host(float, const float *, float *, int) {}
int launch_error(int) { return -1; }
void differences(const float *, float *, int) {}
void reverse_block(int *) {}
void block_sums(const int *, int *, int) {}
