// Fails: add_one: 64 elements | NOT_WRITTEN | without a launch
// On gpu: add_one: 64 elements | NOT_WRITTEN |
// The kernel is there, and nobody launches it.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void add_one_each(float *x) { x[threadIdx.x] += 1; }

void add_one(float *, int) { cudaDeviceSynchronize(); }

// Not begun.
void who_am_i(int *) {}
void saxpy_blocks(float, const float *, float *, int) {}
void saxpy(float, const float *, float *, int) {}
void mirror(const unsigned char *, unsigned char *, int, int) {}
void saxpy_host(float, const float *, float *, int) {}
int launch_error(int) { return -1; }
void differences(const float *, float *, int) {}
void reverse_block(int *) {}
void block_sums(const int *, int *, int) {}
