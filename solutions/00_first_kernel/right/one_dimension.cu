// Right: one thread per pixel in one dimension, and the tree of neighbours, whose steps go 1, 2, 4.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void mirror_pixels(const unsigned char *in, unsigned char *out, int width, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = i % width;
    out[i - x + width - 1 - x] = in[i];
}

void mirror(const unsigned char *in, unsigned char *out, int width, int height)
{
    int n = width * height;
    mirror_pixels<<<(n + 511) / 512, 512>>>(in, out, width, n);
}

static __global__ void add_up(const int *in, int *out)
{
    __shared__ int partial[block_size];
    int t = threadIdx.x;
    partial[t] = in[blockIdx.x * block_size + t];
    for (int step = 1; step < block_size; step *= 2) {
        __syncthreads();
        if (t % (2 * step) == 0) partial[t] += partial[t + step];
    }
    if (t == 0) out[blockIdx.x] = partial[0];
}

void block_sums(const int *in, int *out, int blocks) { add_up<<<blocks, block_size>>>(in, out); }

// Not begun.
void who_am_i(int *) {}
void add_one(float *, int) {}
void saxpy_blocks(float, const float *, float *, int) {}
void saxpy(float, const float *, float *, int) {}
void saxpy_host(float, const float *, float *, int) {}
int launch_error(int) { return -1; }
void differences(const float *, float *, int) {}
void reverse_block(int *) {}
