// Fails: launch_error: launches that are refused | LAUNCH_FAILED | cudaPeekAtLastError() only looks
// On gpu: launch_error: launches that are refused | LAUNCH_FAILED |
// It looks at the error and leaves it there.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void do_nothing() {}

int launch_error(int threads)
{
    do_nothing<<<1, threads>>>();
    return cudaPeekAtLastError();
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
