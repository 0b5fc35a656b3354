// Lab 02, rung 2: each thread has several elements in flight.
//
// Unchanged: read_offset, write_offset, predict, resident_blocks, warps_hiding_latency.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;
constexpr int per_thread = 4; // elements

static int blocks_for(int n, int elements_per_block)
{
    return (n + elements_per_block - 1) / elements_per_block;
}

// Elements of one thread, block_size apart, so that at each step the lanes still handle neighbours.
// All of them are loaded before the first is used: a thread waits once, not per_thread times.
static __global__ void scale_several(const float *in, float *out, int n, int cols,
                                     const float *factor)
{
    int first = blockIdx.x * block_size * per_thread + threadIdx.x;
    float x[per_thread];
    for (int k = 0; k < per_thread; ++k) {
        int i = first + k * block_size;
        x[k] = i < n ? in[i] : 0;
    }
    for (int k = 0; k < per_thread; ++k) {
        int i = first + k * block_size;
        if (i < n) out[i] = x[k] * factor[i % cols];
    }
}

void scale_columns(const float *in, float *out, int rows, int cols, const float *factor)
{
    int n = rows * cols;
    if (n == 0) return;
    int blocks = blocks_for(n, block_size * per_thread);
    scale_several<<<blocks, block_size>>>(in, out, n, cols, factor);
    check_launch("scale_several");
}

static __global__ void add_several(const float *a, const float *b, float *c, int n)
{
    int first = blockIdx.x * block_size * per_thread + threadIdx.x;
    float x[per_thread], y[per_thread];
    for (int k = 0; k < per_thread; ++k) {
        int i = first + k * block_size;
        x[k] = i < n ? a[i] : 0;
        y[k] = i < n ? b[i] : 0;
    }
    for (int k = 0; k < per_thread; ++k) {
        int i = first + k * block_size;
        if (i < n) c[i] = x[k] + y[k];
    }
}

void add_unrolled(const float *a, const float *b, float *c, int n)
{
    if (n == 0) return;
    add_several<<<blocks_for(n, block_size * per_thread), block_size>>>(a, b, c, n);
    check_launch("add_several");
}
