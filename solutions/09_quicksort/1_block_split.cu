// Lab 09, rung 1: a kernel a part, as in naive, but all threads of a block split it, and a launch
// is for thousands of keys.
//
// New: smaller keys are brought to the front of the part's place in scratch, the others to its end,
// and all come back. A key's rank among the smaller comes from a counter in shared memory. One
// thread still sorts a small part; for as many keys insertion sort would take too long.
// quicksort_recursive: the same, where all threads of the block sort a small part, too.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int threads = 256;
constexpr int small_part = 2048; // keys that one thread sorts
constexpr int deepest = 22;      // of launches; CUDA promises 24 levels

// Five elevenths, rounded down, where five times a gap need not be an int; but 1 after 2.
static __device__ int smaller_gap(int gap)
{
    return gap == 2 ? 1 : gap / 11 * 5 + gap % 11 * 5 / 11;
}

// Shell sort: insertion sort over distances that shrink to 1.
static __device__ void sort_alone(unsigned *data, int n)
{
    for (int gap = n / 2; gap > 0; gap = smaller_gap(gap))
        for (int i = gap; i < n; ++i) {
            unsigned key = data[i];
            int k = i;
            for (; k >= gap && data[k - gap] > key; k -= gap) data[k] = data[k - gap];
            data[k] = key;
        }
}

static __global__ void sort_part(unsigned *data, unsigned *other, int n, int depth);

static __device__ void go_on_with(unsigned *data, unsigned *other, int n, int depth)
{
    if (n > small_part && depth < deepest) {
        sort_part<<<1, threads, 0, cudaStreamFireAndForget>>>(data, other, n, depth + 1);
        if (cudaGetLastError() == cudaSuccess) return;
    }
    sort_alone(data, n);
}

static __global__ void sort_part(unsigned *data, unsigned *other, int n, int depth)
{
    __shared__ int smaller, larger;
    if (threadIdx.x == 0) smaller = larger = 0;
    __syncthreads();
    unsigned pivot = data[__umulhi(n * 2654435761u, n)];
    for (int i = threadIdx.x; i < n; i += threads) {
        unsigned key = data[i];
        // Of those that equal the pivot every second goes to either side.
        bool front = key < pivot || (key == pivot && i % 2 == 0);
        other[front ? atomicAdd(&smaller, 1) : n - 1 - atomicAdd(&larger, 1)] = key;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += threads) data[i] = other[i];
    __syncthreads(); // then what a thread launches sees what all have written
    int middle = smaller;
    if (threadIdx.x == 0) go_on_with(data, other, middle, depth);
    if (threadIdx.x == 32) go_on_with(data + middle, other + middle, n - middle, depth);
}

size_t quicksort_scratch(int n) { return sizeof(unsigned) * n; }

void quicksort(unsigned *data, int n, void *scratch)
{
    if (n < 2) return;
    sort_part<<<1, threads>>>(data, static_cast<unsigned *>(scratch), n, 0);
    check_launch("sort_part");
}

// quicksort_recursive: one kernel, a block for each part.

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
