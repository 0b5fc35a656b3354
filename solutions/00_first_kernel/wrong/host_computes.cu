// Fails: saxpy_host: 1000 elements | IMPLAUSIBLE | The host did the work
// On gpu: may pass - nothing there tells what kernels did
// The loop of a CPU, and no device at all.
#include "lab.hpp"

#include <cuda_runtime.h>

void saxpy_host(float a, const float *x_host, float *y_host, int n)
{
    for (int i = 0; i < n; ++i) y_host[i] = a * x_host[i] + y_host[i];
}

// Not begun.
void who_am_i(int *) {}
void add_one(float *, int) {}
void saxpy_blocks(float, const float *, float *, int) {}
void saxpy(float, const float *, float *, int) {}
void mirror(const unsigned char *, unsigned char *, int, int) {}
int launch_error(int) { return -1; }
void differences(const float *, float *, int) {}
void reverse_block(int *) {}
void block_sums(const int *, int *, int) {}
