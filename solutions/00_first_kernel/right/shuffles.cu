// Right: lanes of a warp exchange registers, and one addition per warp is atomic.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void reverse_elements(int *data)
{
    __shared__ int rows[8][32];
    int lane = threadIdx.x % 32, row = threadIdx.x / 32;
    rows[row][lane] = __shfl_sync(0xffffffff, data[threadIdx.x], 31 - lane);
    __syncthreads();
    data[threadIdx.x] = rows[7 - row][lane];
}

void reverse_block(int *data) { reverse_elements<<<1, block_size>>>(data); }

static __global__ void add_up(const int *in, int *out)
{
    int sum = in[blockIdx.x * block_size + threadIdx.x];
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_down_sync(0xffffffff, sum, lanes);
    if (threadIdx.x % 32 == 0) atomicAdd(&out[blockIdx.x], sum);
}

void block_sums(const int *in, int *out, int blocks)
{
    check(cudaMemsetAsync(out, 0, blocks * sizeof(int)), "cudaMemsetAsync");
    add_up<<<blocks, block_size>>>(in, out);
    check_launch("add_up");
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
