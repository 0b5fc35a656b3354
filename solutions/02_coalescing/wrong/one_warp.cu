// Fails: add_unrolled: speed | TOO_SLOW | One block does nearly all
// One warp goes through all elements, a float at a time: a thread loads bytes enough, all the same.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void add_all(const float *a, const float *b, float *c, int n)
{
#pragma unroll 1
    for (int i = threadIdx.x; i < n; i += 32) c[i] = a[i] + b[i];
}

void add_unrolled(const float *a, const float *b, float *c, int n)
{
    if (n > 0) add_all<<<1, 32>>>(a, b, c, n);
}

// Not begun.
void scale_columns(const float *, float *, int, int, const float *) {}
void read_offset(const float *, const float *, float *, int, int) {}
void write_offset(const float *, const float *, float *, int, int) {}
void predict(const access_pattern *, prediction *, int) {}
