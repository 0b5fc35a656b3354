// Fails: quicksort: a small array | NONDETERMINISTIC | A place that atomicAdd gives
// On gpu: may pass - lanes mostly come to an atomic in their order
// Thread r finds the key of rank r, and stores it where a counter says.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void sort_by_rank(unsigned *data, int n)
{
    __shared__ unsigned keys[1024];
    __shared__ int next;
    int r = threadIdx.x;
    if (r < n) keys[r] = data[r];
    if (r == 0) next = 0;
    __syncthreads();
    if (r >= n) return;
    unsigned mine = 0;
    for (int i = 0; i < n; ++i) {
        int rank = 0;
        for (int k = 0; k < n; ++k) rank += keys[k] < keys[i] || (keys[k] == keys[i] && k < i);
        mine = rank == r ? keys[i] : mine;
    }
    data[atomicAdd(&next, 1)] = mine;
}

size_t quicksort_scratch(int) { return 0; }

void quicksort(unsigned *data, int n, void *) { sort_by_rank<<<1, 1024>>>(data, n); }
