// Fails: quicksort: a small array | RACE | of `data`
// On gpu: quicksort: a small array | WRONG_ANSWER |
// A kernel merges what its children sort, but it cannot wait for them.
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

static __global__ void merge(unsigned *data, unsigned *other, int n)
{
    int half = n / 2, a = 0, b = half;
    sort_alone<<<1, 1, 0, cudaStreamFireAndForget>>>(data, half);
    sort_alone<<<1, 1, 0, cudaStreamFireAndForget>>>(data + half, n - half);
    for (int i = 0; i < n; ++i)
        other[i] = b == n || (a < half && data[a] <= data[b]) ? data[a++] : data[b++];
    for (int i = 0; i < n; ++i) data[i] = other[i];
}

size_t quicksort_scratch(int n) { return sizeof(unsigned) * n; }

void quicksort(unsigned *data, int n, void *scratch)
{
    if (n > 1) merge<<<1, 1>>>(data, static_cast<unsigned *>(scratch), n);
}
