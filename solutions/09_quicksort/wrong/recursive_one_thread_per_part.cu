// Fails: quicksort_recursive: launches | TOO_SLOW | lanes at work
// One thread splits each part; the others of its warp have nothing to do.
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

static __global__ void sort_part(unsigned *data, int n);

static __device__ void go_on_with(unsigned *data, int n)
{
    if (n > 32) {
        sort_part<<<1, 1, 0, cudaStreamFireAndForget>>>(data, n);
        if (cudaGetLastError() == cudaSuccess) return;
    }
    sort_alone(data, n);
}

static __global__ void sort_part(unsigned *data, int n)
{
    unsigned pivot = data[__umulhi(n * 2654435761u, n)];
    int low = 0, high = n - 1;
    while (low <= high) {
        while (data[low] < pivot) ++low;
        while (data[high] > pivot) --high;
        if (low > high) break;
        unsigned key = data[low];
        data[low++] = data[high];
        data[high--] = key;
    }
    go_on_with(data, high + 1);
    go_on_with(data + low, n - low);
}

size_t quicksort_recursive_scratch(int) { return 0; }

void quicksort_recursive(unsigned *data, int n, void *)
{
    if (n > 1) sort_part<<<1, 1>>>(data, n);
}

size_t quicksort_scratch(int) { return 0; }

void quicksort(unsigned *, int, void *) {}
