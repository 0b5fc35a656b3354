// Right: quicksort_recursive launches both sides by one grid of two blocks, where either is large;
// a part of at most 512 keys is sorted by odd-even transposition in shared memory.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int threads = 256, small_part = 512;

struct part {
    unsigned *keys, *scratch;
    int n;
};

static __device__ void swap_if_larger(unsigned &a, unsigned &b)
{
    unsigned smaller = min(a, b);
    b = max(a, b);
    a = smaller;
}

// Sorts any number of keys where they lie: each step compares neighbours.
static __device__ void sort_by_transposition(unsigned *keys, int n)
{
    for (int step = 0; step < n; ++step) {
        for (int i = 2 * threadIdx.x + step % 2; i + 1 < n; i += 2 * threads)
            swap_if_larger(keys[i], keys[i + 1]);
        __syncthreads();
    }
}

static __device__ void sort_small(part p)
{
    __shared__ unsigned copy[small_part];
    __syncthreads();
    if (p.n > small_part) return sort_by_transposition(p.keys, p.n); // what was refused
    for (int i = threadIdx.x; i < p.n; i += threads) copy[i] = p.keys[i];
    __syncthreads();
    sort_by_transposition(copy, p.n);
    for (int i = threadIdx.x; i < p.n; i += threads) p.keys[i] = copy[i];
}

static __global__ void sort_parts(part left, part right)
{
    part p = blockIdx.x == 0 ? left : right;
    if (p.n <= small_part) return sort_small(p);
    __shared__ int ends[2];
    __shared__ bool taken;
    if (threadIdx.x < 2) ends[threadIdx.x] = 0;
    __syncthreads();
    unsigned pivot = p.keys[__umulhi(p.n * 2654435761u, p.n)];
    for (int i = threadIdx.x; i < p.n; i += threads) {
        unsigned key = p.keys[i];
        if (key == pivot) continue;
        int place = atomicAdd(&ends[key > pivot], 1);
        p.scratch[key > pivot ? p.n - 1 - place : place] = key;
    }
    __syncthreads();
    part front{p.keys, p.scratch, ends[0]};
    int at = p.n - ends[1];
    part back{p.keys + at, p.scratch + at, ends[1]};
    for (int i = threadIdx.x; i < p.n; i += threads)
        p.keys[i] = i < front.n || i >= at ? p.scratch[i] : pivot;
    __syncthreads();
    if (threadIdx.x == 0) {
        taken = max(front.n, back.n) > small_part;
        if (taken) {
            sort_parts<<<2, threads, 0, cudaStreamFireAndForget>>>(front, back);
            taken = cudaGetLastError() == cudaSuccess;
        }
    }
    __syncthreads();
    if (taken) return;
    sort_small(front);
    sort_small(back);
}

size_t quicksort_recursive_scratch(int n) { return sizeof(unsigned) * n; }

void quicksort_recursive(unsigned *data, int n, void *scratch)
{
    part all{data, static_cast<unsigned *>(scratch), n};
    sort_parts<<<1, threads>>>(all, all);
    check_launch("sort_parts");
}

size_t quicksort_scratch(int) { return 0; }

void quicksort(unsigned *, int, void *) {}
