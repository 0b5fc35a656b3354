// Fails: scan_inclusive: speed | TOO_SLOW | lanes at work
// On gpu: scan_inclusive: speed | TOO_SLOW |
// The lanes of a warp bring a tile to shared memory side by side, and one of them adds it up.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int tile = 1024;

// Without `out`, the sum of each tile; with it, the scan, where sums[] is what comes before a tile.
static __global__ void add_tile(const int *in, int *out, int *sums, int n)
{
    __shared__ int values[tile];
    int first = blockIdx.x * tile, count = min(tile, n - first), sum = out ? sums[blockIdx.x] : 0;
    for (int i = threadIdx.x; i < count; i += 32) values[i] = in[first + i];
    __syncwarp();
    if (threadIdx.x == 0) {
        for (int i = 0; i < count; ++i) values[i] = sum += values[i];
        if (!out) sums[blockIdx.x] = sum;
    }
    __syncwarp();
    for (int i = threadIdx.x; out && i < count; i += 32) out[first + i] = values[i];
}

static __global__ void add_sums(int *sums, int tiles)
{
    for (int t = 0, before = 0; t < tiles; ++t) {
        int sum = sums[t];
        sums[t] = before;
        before += sum;
    }
}

size_t scan_inclusive_scratch(int n) { return (size_t(n) / tile + 1) * sizeof(int); }
void scan_inclusive(const int *in, int *out, int n, void *scratch)
{
    if (n == 0) return;
    int *sums = static_cast<int *>(scratch), tiles = (n - 1) / tile + 1;
    add_tile<<<tiles, 32>>>(in, nullptr, sums, n);
    add_sums<<<1, 1>>>(sums, tiles);
    add_tile<<<tiles, 32>>>(in, out, sums, n);
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
