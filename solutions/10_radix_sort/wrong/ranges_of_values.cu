// Fails: radix_sort: speed | WRONG_ANSWER |
// On gpu: radix_sort: many tiles | WRONG_ANSWER |
// Block b keeps all keys that begin with the bits b, and ranks these among each other.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int threads = 512, ranges = 32, most = 10000;
using u64 = unsigned long long;

static __global__ void sort_range(const unsigned *keys, unsigned *to, int n)
{
    extern __shared__ u64 mine[]; // keys, and where they were
    __shared__ int count, before;
    if (threadIdx.x == 0) count = before = 0;
    __syncthreads();
    int lower = 0;
    for (int i = threadIdx.x; i < n; i += threads) {
        unsigned range = keys[i] >> 27;
        lower += range < blockIdx.x;
        if (range != blockIdx.x) continue;
        int at = atomicAdd(&count, 1);
        if (at < most) mine[at] = u64(keys[i]) << 32 | i;
    }
    atomicAdd(&before, lower);
    __syncthreads();
    for (int i = threadIdx.x; i < min(count, most); i += threads) {
        int rank = before;
        for (int k = 0; k < min(count, most); ++k) rank += mine[k] < mine[i];
        to[rank] = unsigned(mine[i] >> 32);
    }
}

size_t radix_sort_scratch(int n) { return sizeof(unsigned) * size_t(n); }

void radix_sort(unsigned *keys, int n, void *scratch)
{
    if (n < 2) return;
    auto *to = static_cast<unsigned *>(scratch);
    constexpr int bytes = sizeof(u64) * most;
    cudaFuncSetAttribute(sort_range, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    sort_range<<<ranges, threads, bytes>>>(keys, to, n);
    cudaMemcpyAsync(keys, to, sizeof(unsigned) * size_t(n), cudaMemcpyDeviceToDevice);
}

// Not begun.
void sort_warps(unsigned *, int) {}
size_t radix_sort_pairs_scratch(int) { return 0; }
void radix_sort_pairs(unsigned *, unsigned *, int, void *) {}
size_t radix_sort_floats_scratch(int) { return 0; }
void radix_sort_floats(float *, int, void *) {}
