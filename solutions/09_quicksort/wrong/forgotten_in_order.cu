// Fails: quicksort: a small array | RACE | must order the two grids
// On gpu: may pass - what is launched first mostly is done first
// Fire and forget keeps no order: the second child does not wait for the first.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void sort_alone(const unsigned *data, unsigned *other, int n)
{
    for (int i = 0; i < n; ++i) {
        int k = i;
        for (; k > 0 && other[k - 1] > data[i]; --k) other[k] = other[k - 1];
        other[k] = data[i];
    }
}

static __global__ void copy(const unsigned *from, unsigned *to, int n)
{
    for (int i = threadIdx.x; i < n; i += 32) to[i] = from[i];
}

static __global__ void launch(unsigned *data, unsigned *other, int n)
{
    sort_alone<<<1, 1, 0, cudaStreamFireAndForget>>>(data, other, n);
    copy<<<1, 32, 0, cudaStreamFireAndForget>>>(other, data, n);
}

size_t quicksort_scratch(int n) { return sizeof(unsigned) * n; }

void quicksort(unsigned *data, int n, void *scratch)
{
    if (n > 1) launch<<<1, 1>>>(data, static_cast<unsigned *>(scratch), n);
}
