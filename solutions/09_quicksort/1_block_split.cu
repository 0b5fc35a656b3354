// Lab 09, rung 1: a kernel a part, as in naive, but all threads of a block split it, and a launch
// is for thousands of keys.
//
// New: smaller keys are brought to the front of the part's place in scratch, the others to its end,
// and all come back. A key's rank among the smaller comes from a counter in shared memory. One
// thread still sorts a small part; for as many keys insertion sort would take too long.
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
