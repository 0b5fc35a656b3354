// Fails: unpack: a small array | OUT_OF_BOUNDS | at i instead of the place
// On gpu: unpack: a small array | WRONG_ANSWER |
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void pick(const float *packed, const unsigned char *keep, float *out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = keep[i] != 0 ? packed[i] : 0;
}

size_t unpack_scratch(int) { return 0; }
void unpack(const float *packed, const unsigned char *keep, float *out, int n, void *)
{
    if (n > 0) pick<<<16, 128>>>(packed, keep, out, n);
}

// Not begun.
size_t compact_scratch(int) { return 0; }
void compact(const float *, float *, int *, int, void *) {}
size_t partition_scratch(int) { return 0; }
void partition(const float *, float *, int *, int, void *) {}
