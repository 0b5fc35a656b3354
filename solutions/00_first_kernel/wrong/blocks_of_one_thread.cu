// Fails: launch_error: launches that are refused | WRONG_ANSWER | the second one between <<< and >>>
// Many blocks of one thread are launched, where one block of many is asked for.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void do_nothing() {}

int launch_error(int threads)
{
    do_nothing<<<threads, 1>>>();
    return cudaGetLastError();
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
