// Fails: diamond: two branches at once | TOO_SLOW | Does it do the work of two
// On gpu: may pass - so few blocks run at once in one grid, too
// Both branches are one kernel, in one stream. Another stream has something to do as well.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void branches(const float *in, float *left, float *right, int n, int rounds)
{
    int i = blockIdx.x / 2 * 256 + threadIdx.x;
    if (i >= n) return;
    if (blockIdx.x % 2)
        left[i] = work(work(in[i], 1), rounds);
    else
        right[i] = work(work(in[n - 1 - i], 1) / 2, rounds);
}

static __global__ void fill(float *x) { x[threadIdx.x] = 1; }

static __global__ void join(const float *left, const float *right, float *out, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) out[i] = left[i] - right[i];
}

static cudaStream_t stream(int k)
{
    static cudaStream_t streams[4] = {};
    if (!streams[k]) cudaStreamCreateWithFlags(&streams[k], cudaStreamNonBlocking);
    return streams[k];
}

size_t diamond_scratch(int) { return 32 * sizeof(float); }

void diamond(const float *in, float *left, float *right, float *out, int n, int rounds,
             void *scratch)
{
    if (n == 0) return;
    int blocks = (n + 255) / 256;
    branches<<<2 * blocks, 256, 0, stream(0)>>>(in, left, right, n, rounds);
    join<<<blocks, 256, 0, stream(0)>>>(left, right, out, n);
    fill<<<1, 32, 0, stream(1)>>>(static_cast<float *>(scratch));
}

size_t add_pipelined_scratch(int) { return 0; }
void add_pipelined(const float *, const float *, float *, int, int, void *) {}
size_t merge_images_scratch(int, int, int) { return 0; }
void merge_images(const unsigned char *, const unsigned char *, unsigned char *, int, int, int,
                  void *)
{
}
