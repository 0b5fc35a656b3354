// Fails: reverse_block: 256 elements | RACE | reverse_elements has a race
// On gpu: may pass - warps that run at the same time may load before any stores
// All threads load and store in the same array, with a barrier behind.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void reverse_elements(int *data)
{
    int t = threadIdx.x;
    data[t] = data[block_size - 1 - t];
    __syncthreads();
}

void reverse_block(int *data) { reverse_elements<<<1, block_size>>>(data); }

// Not begun.
void who_am_i(int *) {}
void add_one(float *, int) {}
void saxpy_blocks(float, const float *, float *, int) {}
void saxpy(float, const float *, float *, int) {}
void mirror(const unsigned char *, unsigned char *, int, int) {}
void saxpy_host(float, const float *, float *, int) {}
int launch_error(int) { return -1; }
void differences(const float *, float *, int) {}
void block_sums(const int *, int *, int) {}
