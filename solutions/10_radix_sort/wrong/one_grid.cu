// Fails: radix_sort: speed | TOO_SLOW | bytes moved per key
// On gpu: radix_sort: speed | TOO_SLOW | times
// One launch, which goes over the keys more than a hundred times.
#include "lab.hpp"

#define CCCL_IGNORE_DEPRECATED_CPP_DIALECT // the tests compile as C++14
#include <cooperative_groups.h>
#include <cuda_runtime.h>

// A network of comparisons, with a barrier for the whole grid after each step.
static __global__ void sort_all(unsigned *keys, int n)
{
    auto grid = cooperative_groups::this_grid();
    for (int run = 2; run < 2 * n; run *= 2)
        for (int d = run / 2; d > 0; d /= 2) {
            for (int i = grid.thread_rank(); (i & -d) * 2 < n; i += grid.num_threads()) {
                int in_stretch = i & (d - 1), stretch = (i & -d) * 2, low = stretch + in_stretch;
                int high = d == run / 2 ? stretch + 2 * d - 1 - in_stretch : low + d;
                if (high >= n || keys[low] <= keys[high]) continue;
                unsigned key = keys[low];
                keys[low] = keys[high], keys[high] = key;
            }
            grid.sync();
        }
}

size_t radix_sort_scratch(int) { return 0; }
void radix_sort(unsigned *keys, int n, void *)
{
    if (n < 2) return;
    int blocks = 0;
    cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, 0);
    void *arguments[] = {&keys, &n};
    cudaLaunchCooperativeKernel((void *)sort_all, blocks, 256, arguments, 0, nullptr);
}

void sort_warps(unsigned *, int) {}

size_t radix_sort_pairs_scratch(int) { return 0; }
void radix_sort_pairs(unsigned *, unsigned *, int, void *) {}

size_t radix_sort_floats_scratch(int) { return 0; }
void radix_sort_floats(float *, int, void *) {}
