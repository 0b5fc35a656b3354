// Fails: reverse_block: 256 elements | RACE | reverse_elements has a race
// On gpu: may pass - a warp that is fast enough has written before another reads
// The stub as it is handed out.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void reverse_elements(int *data)
{
    __shared__ int copy[block_size];
    int t = threadIdx.x;
    copy[t] = data[t];
    data[t] = copy[block_size - 1 - t];
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
