// Fails: quicksort: many keys | WRONG_ANSWER | sorted runs
// There are n / tile tiles, and the keys behind the last whole one stay where they are.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int threads = 1024, tile = 256;

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

static __global__ void sort(unsigned *data, int n) { sort_block(data, n / tile * tile); }

size_t quicksort_scratch(int) { return 0; }

void quicksort(unsigned *data, int n, void *)
{
    if (n > 1) sort<<<1, threads>>>(data, n);
}
