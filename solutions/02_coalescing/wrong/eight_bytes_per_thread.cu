// Fails: add_unrolled: speed | TOO_SLOW | bytes loaded per thread
// One element a thread: right, and a fifth below what the memory can do.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static __global__ void add_elements(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

void add_unrolled(const float *a, const float *b, float *c, int n)
{
    if (n == 0) return;
    add_elements<<<(n + block_size - 1) / block_size, block_size>>>(a, b, c, n);
}

// Not begun.
void scale_columns(const float *, float *, int, int, const float *) {}
void read_offset(const float *, const float *, float *, int, int) {}
void write_offset(const float *, const float *, float *, int, int) {}
void predict(const access_pattern *, prediction *, int) {}
