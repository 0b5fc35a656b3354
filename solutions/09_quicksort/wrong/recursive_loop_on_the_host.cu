// Fails: quicksort_recursive: launches | TOO_SLOW | let kernels launch what follows
// On gpu: may pass - what is counted is judged on the simulator
// A step of the sort is a launch by the host.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void step(unsigned *data, int n, int odd)
{
    for (int i = 2 * threadIdx.x + odd; i + 1 < n; i += 512)
        if (data[i] > data[i + 1]) {
            unsigned key = data[i];
            data[i] = data[i + 1];
            data[i + 1] = key;
        }
}

size_t quicksort_recursive_scratch(int) { return 0; }

void quicksort_recursive(unsigned *data, int n, void *)
{
    for (int s = 0; s < n; ++s) step<<<1, 256>>>(data, n, s % 2);
}

size_t quicksort_scratch(int) { return 0; }

void quicksort(unsigned *, int, void *) {}
