// Fails: quicksort: a small array | OUT_OF_BOUNDS | past the end of `data`
// On gpu: quicksort: a small array | OUT_OF_BOUNDS |
// A network for powers of two: what was added to the keys is written back with them.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int threads = 256;

static __device__ void sort_block(unsigned *keys, int n)
{
    for (int run = 2; run < 2 * n; run *= 2)
        for (int d = run / 2; d > 0; d /= 2) {
            for (int i = threadIdx.x; i / d * 2 * d < n; i += threads) {
                int first = i / d * 2 * d, low = first + i % d;
                int high = d == run / 2 ? first + run - 1 - i % d : low + d;
                if (high >= n) continue;
                unsigned a = keys[low], b = keys[high];
                if (a > b) keys[low] = b, keys[high] = a;
            }
            __syncthreads();
        }
}

static __global__ void sort(unsigned *data, int n)
{
    __shared__ unsigned keys[threads];
    int size = 1;
    while (size < n) size *= 2;
    for (int i = threadIdx.x; i < size; i += threads) keys[i] = i < n ? data[i] : 0xffffffff;
    __syncthreads();
    sort_block(keys, size);
    for (int i = threadIdx.x; i < size; i += threads) data[i] = keys[i];
}

size_t quicksort_scratch(int) { return 0; }

void quicksort(unsigned *data, int n, void *)
{
    if (n > 1) sort<<<1, threads>>>(data, n);
}
