// Lab 09, rung 1: quicksort_recursive is one kernel, a block for each part. All threads of the
// block split the part, and sort it if it is small.
//
// New: keys smaller than the pivot are brought to the front of the part's place in scratch, larger
// ones to its end, and all come back. Their places come from two counters in shared memory. A
// launch is for hundreds of keys and not for 32; fewer are sorted by their ranks.
// Unchanged: quicksort.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int threads = 256;
constexpr int small_side = 256; // keys that are not split

// A key's place is its rank: how many keys are smaller, and how many equal ones stand before it.
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

static __global__ void quicksort_part(unsigned *keys, unsigned *scratch, int n);

// Launches the kernel for one side, if that is worth it. What was refused the block sorts itself.
static __device__ void sort_side(unsigned *keys, unsigned *scratch, int n)
{
    __shared__ bool taken;
    __syncthreads(); // A child sees what the launching thread has seen: all that the block wrote.
    if (threadIdx.x == 0) {
        taken = n > small_side;
        if (taken) {
            quicksort_part<<<1, threads, 0, cudaStreamFireAndForget>>>(keys, scratch, n);
            taken = cudaGetLastError() == cudaSuccess;
        }
    }
    __syncthreads();
    if (!taken) sort_by_rank(keys, scratch, n);
}

// Keys that equal the pivot are done. So every level ends with fewer keys, whatever they are.
static __global__ void quicksort_part(unsigned *keys, unsigned *scratch, int n)
{
    if (n <= small_side) return sort_by_rank(keys, scratch, n);
    __shared__ int smaller, larger;
    if (threadIdx.x == 0) smaller = larger = 0;
    __syncthreads();
    unsigned any = n * 2654435761u; // The pivot is the median of three keys, from anywhere.
    unsigned a = keys[__umulhi(any, n)], b = keys[__umulhi(3 * any, n)];
    unsigned c = keys[__umulhi(5 * any, n)], pivot = max(min(a, b), min(max(a, b), c));
    for (int i = threadIdx.x; i < n; i += threads) {
        unsigned key = keys[i];
        if (key < pivot) scratch[atomicAdd(&smaller, 1)] = key;
        if (key > pivot) scratch[n - 1 - atomicAdd(&larger, 1)] = key;
    }
    __syncthreads();
    int first = smaller, last = n - larger; // of those that equal the pivot, and behind them
    for (int i = threadIdx.x; i < n; i += threads)
        keys[i] = i < first || i >= last ? scratch[i] : pivot;
    sort_side(keys, scratch, first);
    sort_side(keys + last, scratch + last, n - last);
}

size_t quicksort_recursive_scratch(int n) { return sizeof(unsigned) * n; }

void quicksort_recursive(unsigned *data, int n, void *scratch)
{
    if (n > 1) quicksort_part<<<1, threads>>>(data, static_cast<unsigned *>(scratch), n);
    check_launch("quicksort_part");
}
