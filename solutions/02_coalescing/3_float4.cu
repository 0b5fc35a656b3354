// Lab 02, rung 3: 16 bytes per lane and request where every array begins at a multiple of 16, else
// as in rung 2.
//
// Same points: it moves the same sectors by fewer requests, which only the clock can see.
// Unchanged: read_offset, write_offset, predict, resident_blocks, warps_hiding_latency.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <cstdint>

constexpr int block_size = 256;
constexpr int per_thread = 4; // elements

static int blocks_for(int n, int elements_per_block)
{
    return (n + elements_per_block - 1) / elements_per_block;
}

// A float4 needs an address that is a multiple of 16.
static bool holds_quads(const float *p)
{
    return reinterpret_cast<std::uintptr_t>(p) % sizeof(float4) == 0;
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

// One thread per float4: one request moves four sectors for every one that a float would.
static __global__ void scale_quads(const float *in, float *out, int n, int cols,
                                   const float *factor)
{
    int q = blockIdx.x * block_size + threadIdx.x;
    if (q < n / 4) {
        // cols is a multiple of 4, so that no float4 straddles two rows.
        float4 x = reinterpret_cast<const float4 *>(in)[q];
        float4 f = reinterpret_cast<const float4 *>(factor)[q % (cols / 4)];
        reinterpret_cast<float4 *>(out)[q] = {x.x * f.x, x.y * f.y, x.z * f.z, x.w * f.w};
    }
}

void scale_columns(const float *in, float *out, int rows, int cols, const float *factor)
{
    int n = rows * cols;
    if (n == 0) return;
    if (cols % 4 == 0 && holds_quads(in) && holds_quads(out) && holds_quads(factor)) {
        scale_quads<<<blocks_for(n / 4, block_size), block_size>>>(in, out, n, cols, factor);
        check_launch("scale_quads");
        return;
    }
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

static __global__ void add_quads(const float *a, const float *b, float *c, int n)
{
    int q = blockIdx.x * block_size + threadIdx.x;
    if (q < n / 4) {
        float4 x = reinterpret_cast<const float4 *>(a)[q];
        float4 y = reinterpret_cast<const float4 *>(b)[q];
        reinterpret_cast<float4 *>(c)[q] = {x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w};
    }
    // The up to three elements after the last whole float4.
    int i = n / 4 * 4 + q;
    if (i < n) c[i] = a[i] + b[i];
}

void add_unrolled(const float *a, const float *b, float *c, int n)
{
    if (n == 0) return;
    if (holds_quads(a) && holds_quads(b) && holds_quads(c)) {
        add_quads<<<blocks_for(n, block_size * 4), block_size>>>(a, b, c, n);
        check_launch("add_quads");
        return;
    }
    add_several<<<blocks_for(n, block_size * per_thread), block_size>>>(a, b, c, n);
    check_launch("add_several");
}
