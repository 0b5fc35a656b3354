// Fails: partition: a small array | RACE | Two elements got one place
// On gpu: partition: a small array | PARTIALLY_WRITTEN |
// Others are counted among themselves, and not put behind the kept ones.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void split(const float *in, float *out, int *kept_count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, kept = 0;
    for (int k = 0; k < min(i, n); ++k) kept += in[k] > 0;
    if (i < n) out[in[i] > 0 ? kept : i - kept] = in[i];
    if (i == n) *kept_count = kept;
}

size_t partition_scratch(int) { return 0; }
void partition(const float *in, float *out, int *kept_count, int n, void *)
{
    split<<<n / 256 + 1, 256>>>(in, out, kept_count, n);
}

// Not begun.
size_t compact_scratch(int) { return 0; }
void compact(const float *, float *, int *, int, void *) {}
size_t unpack_scratch(int) { return 0; }
void unpack(const float *, const unsigned char *, float *, int, void *) {}
