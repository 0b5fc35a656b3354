// Fails: add_one: 64 elements | RACE | The number of blocks comes first
// On gpu: add_one: 64 elements | WRONG_ANSWER |
// n blocks of one thread, all of which have threadIdx.x == 0.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void add_one_each(float *x) { x[threadIdx.x] += 1; }

void add_one(float *x, int n) { add_one_each<<<n, 1>>>(x); }

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
