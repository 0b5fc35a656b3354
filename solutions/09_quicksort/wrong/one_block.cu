// Fails: quicksort: speed | TOO_SLOW | those of the busiest block
// On gpu: quicksort: speed | TOO_SLOW |
// One block sorts everything, by a network in device memory.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int threads = 1024;

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

static __global__ void sort(unsigned *data, int n) { sort_block(data, n); }

size_t quicksort_scratch(int) { return 0; }

void quicksort(unsigned *data, int n, void *)
{
    if (n > 1) sort<<<1, threads>>>(data, n);
}
