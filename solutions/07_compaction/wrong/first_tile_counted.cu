// Fails: compact: none or all kept | WRONG_ANSWER | how many of the first 512 elements
// Only one of the tiles tells how many it keeps.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int tile = 512;

static __global__ void gather(const float *in, float *out, int *count, int n)
{
    int i = blockIdx.x * tile + threadIdx.x, place = 0;
    float x = i < n ? in[i] : 0;
    for (int k = 0; k < min(i, n); ++k) place += in[k] > 0;
    if (x > 0) out[place] = x;
    int all = __syncthreads_count(x > 0);
    if (i == 0) *count = all;
}

size_t compact_scratch(int) { return 0; }
void compact(const float *in, float *out, int *count, int n, void *)
{
    gather<<<n / tile + 1, tile>>>(in, out, count, n);
}

// Not begun.
size_t unpack_scratch(int) { return 0; }
void unpack(const float *, const unsigned char *, float *, int, void *) {}
size_t partition_scratch(int) { return 0; }
void partition(const float *, float *, int *, int, void *) {}
