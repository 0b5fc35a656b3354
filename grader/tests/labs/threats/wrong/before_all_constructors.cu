// Fails: twice: 1000 elements | EARLY_EXIT | ended with status 0
// Threat F04: Ends the process before any constructor runs.
#include "lab.hpp"

#include <unistd.h>

static void end(int, char **, char **) { _exit(0); }
[[gnu::section(".preinit_array"), gnu::used]] static void (*const before)(int, char **,
                                                                          char **) = end;

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
