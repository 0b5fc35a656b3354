// Fails: quicksort_recursive: launches | TOO_SLOW | instructions of warps per key
// Two launched blocks rank half of the keys each among all. A key that a thread loads serves four
// comparisons.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static __device__ void rank_half(unsigned *data, unsigned *sorted, int *done, int n, int half)
{
    __shared__ bool last;
    constexpr int step = 2 * block_size;
    for (int i = half * block_size + threadIdx.x; i < n; i += 4 * step) {
        unsigned own[4];
        int rank[4] = {};
        for (int m = 0; m < 4; ++m) own[m] = i + m * step < n ? data[i + m * step] : 0;
        for (int k = 0; k < n; ++k) {
            unsigned key = data[k];
            for (int m = 0; m < 4; ++m)
                rank[m] += key < own[m] || (key == own[m] && k < i + m * step);
        }
        for (int m = 0; m < 4; ++m)
            if (i + m * step < n) sorted[rank[m]] = own[m];
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(done, 1) == 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    for (int i = threadIdx.x; i < n; i += block_size) data[i] = sorted[i];
}

static __global__ void child(unsigned *data, unsigned *sorted, int *done, int n, int half)
{
    rank_half(data, sorted, done, n, half);
}

static __global__ void launch_halves(unsigned *data, unsigned *sorted, int *done, int n)
{
    __shared__ bool launched;
    if (threadIdx.x == 0) *done = 0;
    for (int half = 0; half < 2; ++half) {
        if (threadIdx.x == 0) {
            child<<<1, block_size, 0, cudaStreamFireAndForget>>>(data, sorted, done, n, half);
            launched = cudaGetLastError() == cudaSuccess;
        }
        __syncthreads();
        if (!launched) rank_half(data, sorted, done, n, half);
        __syncthreads();
    }
}

size_t quicksort_recursive_scratch(int n) { return sizeof(unsigned) * (size_t(n) + 1); }

void quicksort_recursive(unsigned *data, int n, void *scratch)
{
    auto *done = static_cast<int *>(scratch);
    auto *sorted = static_cast<unsigned *>(scratch) + 1;
    if (n > 1) launch_halves<<<1, block_size>>>(data, sorted, done, n);
}

// Not begun.
size_t quicksort_scratch(int) { return 0; }
void quicksort(unsigned *, int, void *) {}
