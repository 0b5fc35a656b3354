// Fails: who_am_i: 64 threads | NOT_WRITTEN | left of the =
// On gpu: who_am_i: 64 threads | NOT_WRITTEN |
// The element is loaded, and nothing is stored.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void write_number(int *out)
{
    int t = threadIdx.x;
    t = out[t];
}

void who_am_i(int *out) { write_number<<<1, 64>>>(out); }

// Not begun.
void add_one(float *, int) {}
void saxpy_blocks(float, const float *, float *, int) {}
void saxpy(float, const float *, float *, int) {}
void mirror(const unsigned char *, unsigned char *, int, int) {}
void saxpy_host(float, const float *, float *, int) {}
int launch_error(int) { return -1; }
void differences(const float *, float *, int) {}
void reverse_block(int *) {}
void block_sums(const int *, int *, int) {}
