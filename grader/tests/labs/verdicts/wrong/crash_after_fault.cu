// Fails: twice: 1000 elements | CRASH | Before that: Kernel store_nowhere
// On gpu: twice: 1000 elements | CRASH | SIGFPE
// A kernel's fault makes calls fail, and the host divides by what one of them left unset.
// Alone: its message must name the kernel, which would lie in a namespace.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void store_nowhere(float *y) { *y = 0; }

void twice(const float *, float *, int n)
{
    store_nowhere<<<1, 1>>>(nullptr);
    volatile int blocks = 0;
    if (cudaDeviceSynchronize() == cudaSuccess) blocks = 1;
    blocks = n / blocks;
}

long long sum(const int *, int) { return 0; }
void twice_but_last(float *, int) {}
void copy_but_first(const unsigned char *, unsigned char *, int) {}
