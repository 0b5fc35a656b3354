// Fails: block_sums: one block and many | WRONG_ANSWER | the step that adds neighbours is missing
// On gpu: block_sums: one block and many | WRONG_ANSWER |
// The loop ends before its step of 1.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void add_up_block(const int *in, int *out)
{
    __shared__ int partial[block_size];
    int t = threadIdx.x;
    partial[t] = in[blockIdx.x * block_size + t];
    for (int half = block_size / 2; half > 1; half /= 2) {
        __syncthreads();
        if (t < half) partial[t] += partial[t + half];
    }
    if (t == 0) out[blockIdx.x] = partial[0];
}

void block_sums(const int *in, int *out, int blocks)
{
    add_up_block<<<blocks, block_size>>>(in, out);
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
