// Fails: unpack: a small array | PARTIALLY_WRITTEN | These are the elements whose keep
// Where nothing is kept, nothing is written.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void spread(const float *packed, const unsigned char *keep, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, from = 0;
    if (i >= n || !keep[i]) return;
    for (int k = 0; k < i; ++k) from += keep[k] != 0;
    out[i] = packed[from];
}

size_t unpack_scratch(int) { return 0; }
void unpack(const float *packed, const unsigned char *keep, float *out, int n, void *)
{
    if (n > 0) spread<<<(n + 63) / 64, 64>>>(packed, keep, out, n);
}

// Not begun.
size_t compact_scratch(int) { return 0; }
void compact(const float *, float *, int *, int, void *) {}
size_t partition_scratch(int) { return 0; }
void partition(const float *, float *, int *, int, void *) {}
