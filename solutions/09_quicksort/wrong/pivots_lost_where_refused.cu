// Fails: quicksort: launches are refused | WRONG_ANSWER | If you do: A part becomes three
// On gpu: may pass - there may be more places than were asked for
// Where a launch is refused the kernel sorts both parts itself, and returns before it adds what
// equals the pivot.
#include "lab.hpp"

#include <cuda_runtime.h>

// In a heap: of n keys, as many as need be go down from `i`.
static __device__ void sink(unsigned *data, int i, int n)
{
    for (int k = 2 * i + 1; k < n; i = k, k = 2 * i + 1) {
        if (k + 1 < n && data[k] < data[k + 1]) ++k;
        if (data[i] >= data[k]) return;
        unsigned key = data[i];
        data[i] = data[k];
        data[k] = key;
    }
}

static __device__ void sort_alone(unsigned *data, int n)
{
    for (int i = n / 2 - 1; i >= 0; --i) sink(data, i, n);
    for (int last = n - 1; last > 0; --last) {
        unsigned key = data[0];
        data[0] = data[last];
        data[last] = key;
        sink(data, 0, last);
    }
}

// The keys of a part lie in `data` and are split into `to`, and back.
static __global__ void sort_part(unsigned *data, unsigned *to, int n, int depth)
{
    if (n <= 32 || depth == 0) return sort_alone(data, n);
    unsigned a = data[0], b = data[n / 2], c = data[n - 1];
    unsigned pivot = max(min(a, b), min(max(a, b), c));
    int low = 0, high = n;
    for (int i = 0; i < n; ++i) {
        if (data[i] < pivot) to[low++] = data[i];
        if (data[i] > pivot) to[--high] = data[i];
    }
    for (int i = 0; i < low; ++i) data[i] = to[i];
    for (int i = high; i < n; ++i) data[i] = to[i];
    sort_part<<<1, 1, 0, cudaStreamFireAndForget>>>(data, to, low, depth - 1);
    if (cudaGetLastError() != cudaSuccess) sort_alone(data, low);
    sort_part<<<1, 1, 0, cudaStreamFireAndForget>>>(data + high, to + high, n - high, depth - 1);
    if (cudaGetLastError() != cudaSuccess) return sort_alone(data + high, n - high);
    for (int i = low; i < high; ++i) data[i] = pivot;
}

size_t quicksort_scratch(int n) { return sizeof(unsigned) * n; }

void quicksort(unsigned *data, int n, void *scratch)
{
    if (n > 1) sort_part<<<1, 1>>>(data, static_cast<unsigned *>(scratch), n, 20);
}
