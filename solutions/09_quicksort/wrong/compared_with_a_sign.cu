// Fails: quicksort: a small array | WRONG_ANSWER | compared as signed numbers
// Keys are held as int.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void sort_alone(int *data, int n)
{
    for (int i = 1; i < n; ++i) {
        int key = data[i];
        int k = i;
        for (; k > 0 && data[k - 1] > key; --k) data[k] = data[k - 1];
        data[k] = key;
    }
}

size_t quicksort_scratch(int) { return 0; }

void quicksort(unsigned *data, int n, void *)
{
    if (n > 1) sort_alone<<<1, 1>>>(reinterpret_cast<int *>(data), n);
}
