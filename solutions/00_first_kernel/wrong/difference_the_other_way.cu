// Fails: differences: 1000 elements | WRONG_ANSWER | The two elements were exchanged
// On gpu: differences: 1000 elements | WRONG_ANSWER |
// in[i] - in[i + 1].
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void subtract_neighbours(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1) out[i] = in[i] - in[i + 1];
}

void differences(const float *in, float *out, int n)
{
    subtract_neighbours<<<(n + block_size - 1) / block_size, block_size>>>(in, out, n);
}

// Not begun.
void who_am_i(int *) {}
void add_one(float *, int) {}
void saxpy_blocks(float, const float *, float *, int) {}
void saxpy(float, const float *, float *, int) {}
void mirror(const unsigned char *, unsigned char *, int, int) {}
void saxpy_host(float, const float *, float *, int) {}
int launch_error(int) { return -1; }
void reverse_block(int *) {}
void block_sums(const int *, int *, int) {}
