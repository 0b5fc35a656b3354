// Fails: quicksort: a small array | RACE | `keys
// On gpu: may pass - the threads of a warp mostly go in step
// A step of the network begins before the one before it has ended everywhere.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int threads = 256;

static __device__ void sort_block(unsigned *keys, int n)
{
    for (int run = 2; run < 2 * n; run *= 2)
        for (int d = run / 2; d > 0; d /= 2)
            for (int i = threadIdx.x; i / d * 2 * d < n; i += threads) {
                int first = i / d * 2 * d, low = first + i % d;
                int high = d == run / 2 ? first + run - 1 - i % d : low + d;
                if (high >= n) continue;
                unsigned a = keys[low], b = keys[high];
                if (a > b) keys[low] = b, keys[high] = a;
            }
}

static __global__ void sort(unsigned *data, int n)
{
    __shared__ unsigned keys[64];
    int i = threadIdx.x;
    if (i < n) keys[i] = data[i];
    __syncthreads();
    sort_block(keys, n);
    __syncthreads();
    if (i < n) data[i] = keys[i];
}

size_t quicksort_scratch(int) { return 0; }

void quicksort(unsigned *data, int n, void *)
{
    if (n > 1) sort<<<1, threads>>>(data, n);
}
