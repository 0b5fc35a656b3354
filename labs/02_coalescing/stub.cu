// Lab 02, coalescing: the file to edit. What each function must do: lab.hpp.
// The lesson: handouts/02_coalescing.md. Stuck at a TODO: ./workbook hint 02.
//
// Every launch below is in place and rounds its grid up, so that the last block
// has threads to spare. Change launches where your idea needs it.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <cstdint>

constexpr int block_size = 256;
constexpr int per_thread = 4; // elements that a thread handles

static int blocks_for(int n, int elements_per_block)
{
    return (n + elements_per_block - 1) / elements_per_block;
}

// The matrix is one array of n elements; a block owns block_size * per_thread
// of them.
static __global__ void scale_elements(const float *in, float *out, int n, int cols,
                                      const float *factor)
{
    // TODO 1 (scale_columns): Each of the block's elements, if it is below n,
    // is scaled by the factor of its column. At every step the 32 lanes of a
    // warp handle 32 neighbours.
}

void scale_columns(const float *in, float *out, int rows, int cols, const float *factor)
{
    int n = rows * cols;
    if (n == 0) return;
    scale_elements<<<blocks_for(n, block_size * per_thread), block_size>>>(in, out, n, cols,
                                                                           factor);
    check_launch("scale_elements");
}

// How many floats p lies behind the last boundary between two sectors.
static __device__ int behind_boundary(const float *p)
{
    return reinterpret_cast<std::uintptr_t>(p) / sizeof(float) % 8;
}

// Loads per_thread rows of 32 neighbours of `from`, an array of n, from element
// `first` on, one element per lane and row. `first` may be below 0.
static __device__ void load_rows(const float *from, int n, int first, float (&x)[per_thread])
{
    // TODO 3 (read_offset: sectors at offset 11): x[r] is from[first + 32 * r +
    // lane], if that exists. Each load begins at the boundary of a sector, and
    // no warp loads a sector twice: its lanes exchange floats by __shfl_sync.
}

// A block owns block_size * per_thread elements of the result. The grid has
// room for 7 more, so that every warp may begin up to 7 elements earlier.
static __global__ void read_elements(const float *a, const float *b, float *c, int n, int offset)
{
    // TODO 2 (read_offset): For each of the block's i, c[i] is a[i + offset] +
    // b[i + offset], if both are inside the arrays.
    //
    // TODO 3 (read_offset: sectors at offset 11): When everything else passes:
    // each warp adds what load_rows brings, and its stores to c begin at the
    // boundary of a sector.
}

void read_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset >= n) return;
    read_elements<<<blocks_for(n - offset + 7, block_size * per_thread), block_size>>>(a, b, c, n,
                                                                                       offset);
    check_launch("read_elements");
}

// A block owns as many elements of the result as in read_elements.
static __global__ void write_elements(const float *a, const float *b, float *c, int n, int offset)
{
    // TODO 4 (write_offset): For each of the block's i, c[i + offset] is a[i] +
    // b[i], if both are inside the arrays.
    //
    // TODO 5 (write_offset: sectors at offset 11): When everything else passes:
    // every warp's stores to c begin at the boundary of a sector, and load_rows
    // realigns what it adds.
}

void write_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset >= n) return;
    write_elements<<<blocks_for(n - offset + 7, block_size * per_thread), block_size>>>(a, b, c, n,
                                                                                        offset);
    check_launch("write_elements");
}

// A block owns block_size * per_thread elements.
static __global__ void add_several(const float *a, const float *b, float *c, int n)
{
    // TODO 6 (add_unrolled): c[i] is a[i] + b[i] for each of the block's i
    // below n. Each thread loads per_thread elements of a and of b before it
    // stores the first sum, lanes side by side as in TODO 1.
}

void add_unrolled(const float *a, const float *b, float *c, int n)
{
    if (n == 0) return;
    add_several<<<blocks_for(n, block_size * per_thread), block_size>>>(a, b, c, n);
    check_launch("add_several");
}

void predict(const access_pattern *patterns_host, prediction *out_host, int count)
{
    for (int i = 0; i < count; ++i) {
        int p = patterns_host[i].parameter;
        prediction &answer = out_host[i];
        switch (patterns_host[i].kind) {
            // A case looks like this:
            // case pattern_kind::contiguous: answer = {sectors, lines}; break;

            // TODO 7 (predict): The kinds whose lanes read neighbours have
            // their answers: contiguous, reversed, shuffled, one_address,
            // bytes, float2_each and float4_each.

            // TODO 8 (predict: far apart): strided and scattered have their
            // answers.

            // TODO 8 (predict: part of a warp, and two rows): first_lanes,
            // even_lanes and two_rows have their answers.

        default: // a kind without an answer yet
            break;
        }
    }
}

// These functions return how many such blocks one limit alone allows to be
// resident, and at most limits.blocks.
static int fit_by_warps(const block_needs &block, const sm_limits &limits)
{
    int blocks = limits.blocks;
    // TODO 9 (resident_blocks: threads and blocks): `blocks` is the number of
    // blocks whose warps have room, if that is less.
    return blocks;
}

static int fit_by_registers(const block_needs &block, const sm_limits &limits)
{
    int blocks = limits.blocks;
    // TODO 10 (resident_blocks: registers): `blocks` is the number of blocks
    // that get their registers, if that is less.
    return blocks;
}

static int fit_by_shared_memory(const block_needs &block, const sm_limits &limits)
{
    int blocks = limits.blocks;
    // TODO 11 (resident_blocks: shared memory): `blocks` is the number of
    // blocks that get their shared memory, if that is less.
    return blocks;
}

void resident_blocks(const block_needs *blocks_host, int *resident_host, int count,
                     sm_limits limits)
{
    for (int i = 0; i < count; ++i) {
        const block_needs &block = blocks_host[i];
        int fit[] = {fit_by_warps(block, limits), fit_by_registers(block, limits),
                     fit_by_shared_memory(block, limits)};
        // TODO 9 (resident_blocks: threads and blocks): resident_host[i] is the
        // smallest of these three.
    }
}

void warps_hiding_latency(const memory_demand *demands_host, int *warps_host, int count)
{
    for (int i = 0; i < count; ++i) {
        // TODO 12 (warps_hiding_latency): warps_host[i] is the smallest number
        // of warps per SM that have as many bytes in flight as the memory
        // delivers during its latency.
    }
}
