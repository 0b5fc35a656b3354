// Fails: quicksort_recursive: launches are refused | WRONG_ANSWER | No place was left
// A launch that was refused has not happened, and nobody asks.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int threads = 256, small_part = 256;

static __device__ void sort_by_rank(unsigned *keys, unsigned *scratch, int n)
{
    for (int i = threadIdx.x; i < n; i += threads) {
        unsigned key = keys[i];
        int rank = 0;
        for (int k = 0; k < n; ++k) rank += keys[k] < key || (keys[k] == key && k < i);
        scratch[rank] = key;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += threads) keys[i] = scratch[i];
}

static __global__ void sort_part(unsigned *keys, unsigned *scratch, int n);

static __device__ void sort_side(unsigned *keys, unsigned *scratch, int n)
{
    __shared__ bool taken;
    __syncthreads();
    if (threadIdx.x == 0) {
        taken = n > small_part;
        if (taken) {
            sort_part<<<1, threads, 0, cudaStreamFireAndForget>>>(keys, scratch, n);
        }
    }
    __syncthreads();
    if (!taken) sort_by_rank(keys, scratch, n);
}

static __global__ void sort_part(unsigned *keys, unsigned *scratch, int n)
{
    if (n <= small_part) return sort_by_rank(keys, scratch, n);
    __shared__ int smaller, larger;
    if (threadIdx.x == 0) smaller = larger = 0;
    __syncthreads();
    unsigned pivot = keys[__umulhi(n * 2654435761u, n)];
    for (int i = threadIdx.x; i < n; i += threads) {
        unsigned key = keys[i];
        if (key < pivot) scratch[atomicAdd(&smaller, 1)] = key;
        if (key > pivot) scratch[n - 1 - atomicAdd(&larger, 1)] = key;
    }
    __syncthreads();
    int first = smaller, last = n - larger;
    for (int i = threadIdx.x; i < n; i += threads)
        keys[i] = i < first || i >= last ? scratch[i] : pivot;
    sort_side(keys, scratch, first);
    sort_side(keys + last, scratch + last, n - last);
}

size_t quicksort_recursive_scratch(int n) { return sizeof(unsigned) * n; }

void quicksort_recursive(unsigned *data, int n, void *scratch)
{
    if (n > 1) sort_part<<<1, threads>>>(data, static_cast<unsigned *>(scratch), n);
}

size_t quicksort_scratch(int) { return 0; }

void quicksort(unsigned *, int, void *) {}
