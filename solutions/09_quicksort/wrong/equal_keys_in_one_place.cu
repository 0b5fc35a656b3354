// Fails: quicksort: few values | WRONG_ANSWER | occurred more than once
// A key's place is how many are smaller: equal keys get the same one.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void sort_alone(unsigned *data, unsigned *before, int n)
{
    for (int i = 0; i < n; ++i) before[i] = data[i], data[i] = 0;
    for (int i = 0; i < n; ++i) {
        int smaller = 0;
        for (int k = 0; k < n; ++k) smaller += before[k] < before[i];
        data[smaller] = before[i];
    }
}

size_t quicksort_scratch(int n) { return sizeof(unsigned) * n; }

void quicksort(unsigned *data, int n, void *scratch)
{
    if (n > 1) sort_alone<<<1, 1>>>(data, static_cast<unsigned *>(scratch), n);
}
