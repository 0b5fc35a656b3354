// Fails: launch_error: launches that are refused | LAUNCH_FAILED | called after the launch
// On gpu: launch_error: launches that are refused | LAUNCH_FAILED |
// The error is asked for before the launch.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void do_nothing() {}

int launch_error(int threads)
{
    int error = cudaGetLastError();
    do_nothing<<<1, threads>>>();
    return error;
}

// Not begun.
void who_am_i(int *) {}
void add_one(float *, int) {}
void saxpy_blocks(float, const float *, float *, int) {}
void saxpy(float, const float *, float *, int) {}
void mirror(const unsigned char *, unsigned char *, int, int) {}
void saxpy_host(float, const float *, float *, int) {}
void differences(const float *, float *, int) {}
void reverse_block(int *) {}
void block_sums(const int *, int *, int) {}
