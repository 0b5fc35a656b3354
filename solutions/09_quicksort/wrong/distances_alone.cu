// Fails: quicksort: a small array | WRONG_ANSWER | compare keys a distance apart
// Every step of the network goes by distances, also the first of a run.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void step(unsigned *data, int n, int distance)
{
    int low = blockIdx.x * blockDim.x + threadIdx.x, high = low + distance;
    if (high >= n || (low & distance)) return;
    unsigned a = data[low], b = data[high];
    data[low] = min(a, b);
    data[high] = max(a, b);
}

size_t quicksort_scratch(int) { return 0; }

void quicksort(unsigned *data, int n, void *)
{
    for (int run = 2; run < 2 * n; run *= 2)
        for (int distance = run / 2; distance > 0; distance /= 2)
            step<<<(n + 255) / 256, 256>>>(data, n, distance);
}
