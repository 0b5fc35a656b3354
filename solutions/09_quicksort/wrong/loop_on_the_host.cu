// Fails: quicksort: speed | TOO_SLOW | let kernels launch what follows
// On gpu: may pass - where the keys are many a launch by the host costs little
// A step of a network is a launch by the host.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void step(unsigned *keys, int n, int run, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int first = i / d * 2 * d, low = first + i % d;
    int high = d == run / 2 ? first + run - 1 - i % d : low + d;
    if (high >= n || keys[low] <= keys[high]) return;
    unsigned key = keys[low];
    keys[low] = keys[high];
    keys[high] = key;
}

size_t quicksort_scratch(int) { return 0; }

void quicksort(unsigned *data, int n, void *)
{
    for (int run = 2; run < 2 * n; run *= 2)
        for (int d = run / 2; d > 0; d /= 2) step<<<(n + 255) / 256, 256>>>(data, n, run, d);
}
