// Fails: radix_sort: random keys | NONDETERMINISTIC | leave keys of the same digit
// On gpu: may pass - the lanes of a warp are mostly served from the first to the last
// A warp takes its rows one after another, but within a row an atomic hands out the places.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int rows = 16, tile = 32 * rows, digits = 16;

static __global__ void count_tiles(const unsigned *keys, int n, int shift, int *counts)
{
    __shared__ int here[digits];
    if (threadIdx.x < digits) here[threadIdx.x] = 0;
    __syncwarp();
    for (int k = 0, i = blockIdx.x * tile + threadIdx.x; k < rows && i < n; ++k, i += 32)
        atomicAdd(&here[keys[i] >> shift & (digits - 1)], 1);
    __syncwarp();
    if (threadIdx.x < digits) counts[threadIdx.x * gridDim.x + blockIdx.x] = here[threadIdx.x];
}

static __global__ void scan_counts(int *counts, int n)
{
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        int count = counts[i];
        counts[i] = sum;
        sum += count;
    }
}

static __global__ void place_tiles(const unsigned *keys, unsigned *to, int n, int shift,
                                   const int *counts)
{
    __shared__ int next[digits];
    if (threadIdx.x < digits) next[threadIdx.x] = counts[threadIdx.x * gridDim.x + blockIdx.x];
    __syncwarp();
    for (int k = 0, i = blockIdx.x * tile + threadIdx.x; k < rows; ++k, i += 32) {
        if (i < n) to[atomicAdd(&next[keys[i] >> shift & (digits - 1)], 1)] = keys[i];
        __syncwarp();
    }
}

static int tiles_for(int n) { return n / tile + 1; }

size_t radix_sort_scratch(int n) { return sizeof(unsigned) * (n + digits * tiles_for(n)); }
void radix_sort(unsigned *keys, int n, void *scratch)
{
    unsigned *before = static_cast<unsigned *>(scratch);
    int tiles = tiles_for(n), *counts = static_cast<int *>(scratch) + n;
    if (n == 0) return;
    for (int shift = 0; shift < 32; shift += 4) {
        cudaMemcpyAsync(before, keys, sizeof(unsigned) * n, cudaMemcpyDeviceToDevice);
        count_tiles<<<tiles, 32>>>(before, n, shift, counts);
        scan_counts<<<1, 1>>>(counts, digits * tiles);
        place_tiles<<<tiles, 32>>>(before, keys, n, shift, counts);
    }
}

void sort_warps(unsigned *, int) {}

size_t radix_sort_pairs_scratch(int) { return 0; }
void radix_sort_pairs(unsigned *, unsigned *, int, void *) {}

size_t radix_sort_floats_scratch(int) { return 0; }
void radix_sort_floats(float *, int, void *) {}
