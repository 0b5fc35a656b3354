// Fails: quicksort: a small array | CUDA_ERROR | is given a pointer to it
// On gpu: quicksort: a small array | CUDA_ERROR |
// A child has shared memory of its own: an address in its parent's means nothing to it.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void sort_alone(unsigned *data, int n)
{
    for (int i = 1; i < n; ++i) {
        unsigned key = data[i];
        int k = i;
        for (; k > 0 && data[k - 1] > key; --k) data[k] = data[k - 1];
        data[k] = key;
    }
}

static __global__ void launch(unsigned *data, int n)
{
    __shared__ unsigned keys[64];
    for (int i = 0; i < n; ++i) keys[i] = data[i];
    sort_alone<<<1, 1>>>(keys, n);
}

size_t quicksort_scratch(int) { return 0; }

void quicksort(unsigned *data, int n, void *)
{
    if (n > 1) launch<<<1, 1>>>(data, n);
}
