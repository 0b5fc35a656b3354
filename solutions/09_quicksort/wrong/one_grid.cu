// Fails: quicksort: speed | TOO_SLOW | instructions of kernels that kernels launched
// On gpu: may pass - a grid that waits for itself may be fast enough
// One grid from beginning to end: no kernel launches any.
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

size_t quicksort_scratch(int) { return 0; }
void quicksort(unsigned *data, int n, void *)
{
    if (n < 2) return;
    int blocks = 0;
    cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, 0);
    void *arguments[] = {&data, &n};
    cudaLaunchCooperativeKernel((void *)sort_all, blocks, 256, arguments, 0, nullptr);
}
