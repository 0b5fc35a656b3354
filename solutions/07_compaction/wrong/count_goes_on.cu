// Fails: compact: a small array | NONDETERMINISTIC | a static or __device__ variable
// What is kept is counted in a variable that only the program's start sets to 0.
#include "lab.hpp"

#include <cuda_runtime.h>

static __device__ int kept;

static __global__ void gather(const float *in, float *out, int *count, int n)
{
    int i = threadIdx.x;
    if (i >= n) return;
    int place = 0;
    for (int k = 0; k < i; ++k) place += in[k] > 0;
    if (in[i] > 0) out[place] = in[i];
    if (in[i] > 0) atomicAdd(&kept, 1);
    __syncwarp(__activemask());
    if (i == n - 1) *count = atomicAdd(&kept, 0);
}

size_t compact_scratch(int) { return 0; }
void compact(const float *in, float *out, int *count, int n, void *)
{
    gather<<<1, 32>>>(in, out, count, n);
}

// Not begun.
size_t unpack_scratch(int) { return 0; }
void unpack(const float *, const unsigned char *, float *, int, void *) {}
size_t partition_scratch(int) { return 0; }
void partition(const float *, float *, int *, int, void *) {}
