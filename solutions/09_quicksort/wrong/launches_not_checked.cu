// Fails: quicksort: launches are refused | WRONG_ANSWER | No place was left
// On gpu: may pass - there may be more places than were asked for
// A launch that was refused has not happened, and nobody asks.
#include "lab.hpp"

#include <cuda_runtime.h>

static __device__ void sort_alone(unsigned *data, int n)
{
    for (int i = 1; i < n; ++i) {
        unsigned key = data[i];
        int k = i;
        for (; k > 0 && data[k - 1] > key; --k) data[k] = data[k - 1];
        data[k] = key;
    }
}

static __global__ void sort_part(unsigned *data, int n)
{
    if (n <= 32) return sort_alone(data, n);
    unsigned pivot = data[n / 2];
    int low = 0, high = n - 1;
    while (low <= high) {
        while (data[low] < pivot) ++low;
        while (data[high] > pivot) --high;
        if (low > high) break;
        unsigned key = data[low];
        data[low++] = data[high];
        data[high--] = key;
    }
    if (high >= 0) sort_part<<<1, 1, 0, cudaStreamFireAndForget>>>(data, high + 1);
    if (low < n) sort_part<<<1, 1, 0, cudaStreamFireAndForget>>>(data + low, n - low);
}

size_t quicksort_scratch(int) { return 0; }

void quicksort(unsigned *data, int n, void *)
{
    if (n > 1) sort_part<<<1, 1>>>(data, n);
}
