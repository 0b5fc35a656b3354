// Fails: read_offset: a small array | LAUNCH_FAILED | read_elements: invalid argument
// On gpu: read_offset: a small array | CRASH | read_elements: invalid argument
// n / block_size blocks are none for a small n, and the file asks whether the launch was refused. Only the simulator
// says that it was a launch.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static __global__ void read_elements(const float *a, const float *b, float *c, int n, int offset)
{
    int k = blockIdx.x * block_size + threadIdx.x + offset;
    if (k < n) c[k - offset] = a[k] + b[k];
}

void read_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset >= n) return;
    read_elements<<<(n - offset) / block_size, block_size>>>(a, b, c, n, offset);
    check_launch("read_elements");
}

// Not begun.
void scale_columns(const float *, float *, int, int, const float *) {}
void write_offset(const float *, const float *, float *, int, int) {}
void add_unrolled(const float *, const float *, float *, int) {}
void predict(const access_pattern *, prediction *, int) {}
