// Lab 09, rung 3: three parts out of one. Keys that equal the pivot are in their place as soon as
// it is known how many are smaller, and are done with.
//
// New: the third part. An input of few values takes at most as many levels as there are values, and
// one of equal keys one level, where it was halved before down to the last leaf.
// Unchanged: quicksort_recursive.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int threads = 256;
constexpr int leaf = 2048;  // keys that a block sorts
constexpr int deepest = 22; // of launches; CUDA promises 24 levels

// Two sorted runs of `run` keys become one: the first is compared with the mirror image of the
// second, then keys d apart, d halving. Every comparison leaves the smaller key at the lower place,
// so that nothing is missing behind the last.
static __device__ void sort_block(unsigned *keys, int n)
{
    for (int run = 1; run < n; run *= 2) // 2^30 at most, when it ends
        for (int d = run; d > 0; d /= 2) {
            // Pair i: number i % d of d, and d is a power of two.
            for (int i = threadIdx.x; (i & -d) * 2 < n; i += threads) {
                int first = (i & -d) * 2, at = i & (d - 1), low = first + at;
                int high = d == run ? first + 2 * run - 1 - at : low + d;
                if (high >= n) continue;
                unsigned a = keys[low], b = keys[high];
                if (a > b) keys[low] = b, keys[high] = a;
            }
            __syncthreads();
        }
}

static __device__ void sort_leaf(unsigned *data, int n)
{
    __shared__ unsigned keys[leaf];
    for (int i = threadIdx.x; i < n; i += threads) keys[i] = data[i];
    __syncthreads();
    sort_block(keys, n);
    for (int i = threadIdx.x; i < n; i += threads) data[i] = keys[i];
    __syncthreads();
}

static __global__ void sort_part(unsigned *data, unsigned *other, int n, int depth);

static __device__ void go_on_with(unsigned *data, unsigned *other, int n, int depth)
{
    __shared__ bool taken;
    __syncthreads(); // then what a thread launches sees what all have written
    if (threadIdx.x == 0) {
        taken = false;
        if (n > 0 && depth < deepest) {
            sort_part<<<1, threads, 0, cudaStreamFireAndForget>>>(data, other, n, depth + 1);
            taken = cudaGetLastError() == cudaSuccess;
        }
    }
    __syncthreads();
    if (!taken) sort_block(data, n);
}

static __global__ void sort_part(unsigned *data, unsigned *other, int n, int depth)
{
    if (n <= leaf) return sort_leaf(data, n);
    __shared__ int smaller, larger;
    if (threadIdx.x == 0) smaller = larger = 0;
    __syncthreads();
    unsigned pivot = data[__umulhi(n * 2654435761u, n)];
    for (int i = threadIdx.x; i < n; i += threads) {
        unsigned key = data[i];
        if (key < pivot) other[atomicAdd(&smaller, 1)] = key;
        if (key > pivot) other[n - 1 - atomicAdd(&larger, 1)] = key;
    }
    __syncthreads();
    int less = smaller, behind = n - larger;
    for (int i = threadIdx.x; i < n; i += threads)
        data[i] = i < less || i >= behind ? other[i] : pivot;
    go_on_with(data, other, less, depth);
    go_on_with(data + behind, other + behind, n - behind, depth);
}

size_t quicksort_scratch(int n) { return sizeof(unsigned) * n; }

void quicksort(unsigned *data, int n, void *scratch)
{
    if (n < 2) return;
    sort_part<<<1, threads>>>(data, static_cast<unsigned *>(scratch), n, 0);
    check_launch("sort_part");
}
