// Lab 00, the way of a CPU: in each block one thread adds up all 256 elements. The other functions
// have no count to compare with, so they are left out.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

// 256 steps for one thread, while the others have nothing to do.
static __global__ void add_up_block(const int *in, int *out)
{
    if (threadIdx.x > 0) return;
    int sum = 0;
    for (int k = 0; k < block_size; ++k) sum += in[blockIdx.x * block_size + k];
    out[blockIdx.x] = sum;
}

void block_sums(const int *in, int *out, int blocks)
{
    add_up_block<<<blocks, block_size>>>(in, out);
    check_launch("add_up_block");
}

// Not begun.
void who_am_i(int *) {}
void add_one(float *, int) {}
void saxpy_blocks(float, const float *, float *, int) {}
void saxpy(float, const float *, float *, int) {}
void mirror(const unsigned char *, unsigned char *, int, int) {}
void saxpy_host(float, const float *, float *, int) {}
int launch_error(int) { return -1; }
void differences(const float *, float *, int) {}
void reverse_block(int *) {}
