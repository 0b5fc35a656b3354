// Fails: quicksort: a small array | RACE | of `scratch`
// On gpu: may pass - a launch takes longer than the copy
// A child sees what the thread that launches it has seen; nothing made that one wait for the
// others.
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

static __global__ void reverse(unsigned *data, unsigned *other, int n)
{
    int i = threadIdx.x;
    if (i < n) other[i] = data[n - 1 - i];
    if (i == 0) sort_alone<<<1, 1>>>(other, n);
}

size_t quicksort_scratch(int n) { return sizeof(unsigned) * n; }

void quicksort(unsigned *data, int n, void *scratch)
{
    if (n > 1) reverse<<<1, 64>>>(data, static_cast<unsigned *>(scratch), n);
}
