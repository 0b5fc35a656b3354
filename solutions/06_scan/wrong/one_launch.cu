// Fails: scan_inclusive: speed | TOO_SLOW | bytes moved per element
// On gpu: scan_inclusive: speed | TOO_SLOW |
// Sums by doubling distances, every pass of them in one cooperative launch.
#include "lab.hpp"

#define CCCL_IGNORE_DEPRECATED_CPP_DIALECT // the tests compile as C++14
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

static __global__ void scan_all(const int *in, int *out, int n, int *scratch)
{
    cg::grid_group grid = cg::this_grid();
    int threads = static_cast<int>(grid.size()), first = static_cast<int>(grid.thread_rank());
    int *from = out, *to = scratch;
    for (long long distance = 1; distance < n; distance *= 2) {
        int *other = from;
        from = to;
        to = other;
    }
    for (int i = first; i < n; i += threads) from[i] = in[i];
    for (int distance = 1; distance < n; distance *= 2) {
        grid.sync();
        for (int i = first; i < n; i += threads)
            to[i] = i < distance ? from[i] : from[i - distance] + from[i];
        int *other = from;
        from = to;
        to = other;
    }
}

size_t scan_inclusive_scratch(int n) { return sizeof(int) * n; }
void scan_inclusive(const int *in, int *out, int n, void *scratch)
{
    if (n == 0) return;
    int *second = static_cast<int *>(scratch);
    void *arguments[] = {&in, &out, &n, &second};
    int blocks = 0; // as many as run at a time
    cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, 0);
    cudaLaunchCooperativeKernel(reinterpret_cast<void *>(scan_all), dim3(blocks), dim3(1024),
                                arguments, 0, nullptr);
}

// Not begun.
void scan_block_inclusive(const int *, int *, int) {}
void scan_block_exclusive(const int *, int *, int) {}
size_t scan_exclusive_scratch(int) { return 0; }
void scan_exclusive(const int *, int *, int, void *) {}
size_t scan_inclusive_int64_scratch(int) { return 0; }
void scan_inclusive_int64(const std::int64_t *, std::int64_t *, int, void *) {}
size_t scan_inclusive_float_scratch(int) { return 0; }
void scan_inclusive_float(const float *, float *, int, void *) {}
