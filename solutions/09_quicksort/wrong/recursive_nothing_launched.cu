// Fails: quicksort_recursive: launches are refused | TOO_SLOW | instructions of kernels
// One block ranks all keys among all, and launches two kernels that do nothing.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void nothing() {}

static __global__ void sort_by_rank(unsigned *data, unsigned *sorted, int n)
{
    if (threadIdx.x == 0) {
        nothing<<<1, 1>>>();
        nothing<<<1, 1>>>();
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int rank = 0;
        for (int k = 0; k < n; ++k) rank += data[k] < data[i] || (data[k] == data[i] && k < i);
        sorted[rank] = data[i];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = sorted[i];
}

size_t quicksort_recursive_scratch(int n) { return sizeof(unsigned) * size_t(n); }

void quicksort_recursive(unsigned *data, int n, void *scratch)
{
    if (n > 1) sort_by_rank<<<1, 256>>>(data, static_cast<unsigned *>(scratch), n);
}

// Not begun.
size_t quicksort_scratch(int) { return 0; }
void quicksort(unsigned *, int, void *) {}
