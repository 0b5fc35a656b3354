// Fails: scale_columns: speed | TOO_SLOW | bytes moved per element
// On gpu: may pass - how slow it is there is not known yet
// All lanes of a warp load, multiply and store the same element, so that no sector is half used.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <stdexcept>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

static __global__ void scale_naive(const float *in, float *out, int rows, int cols,
                                   const float *factor)
{
    int row = blockIdx.x * block_size + threadIdx.x;
    if (row >= rows) return;
    // One row, from its first column to its last.
    for (int col = 0; col < cols; ++col) {
        int i = row * cols + col;
        out[i] = in[i] * factor[col];
    }
}

// A warp a row, and all its lanes do the same: strided as naive, one element a request.
static __global__ void scale_a_row_each(const float *in, float *out, int rows, int cols,
                                        const float *factor)
{
    int row = (blockIdx.x * block_size + threadIdx.x) / 32;
    if (row >= rows) return;
    for (int col = 0; col < cols; ++col) {
        int i = row * cols + col;
        out[i] = in[i] * factor[col];
    }
}

// c[i + to] = a[i + from] + b[i + from] for 0 <= i < count
static __global__ void add_one_each(const float *a, const float *b, float *c, int count, int from,
                                    int to)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < count) c[i + to] = a[i + from] + b[i + from];
}

static void add(const float *a, const float *b, float *c, int count, int from, int to)
{
    if (count <= 0) return;
    add_one_each<<<blocks_for(count), block_size>>>(a, b, c, count, from, to);
    check_launch("add_one_each");
}

void scale_columns(const float *in, float *out, int rows, int cols, const float *factor)
{
    if (rows == 0 || cols == 0) return;
    if (rows > 100000)
        scale_naive<<<blocks_for(rows), block_size>>>(in, out, rows, cols, factor);
    else
        scale_a_row_each<<<(rows + 7) / 8, block_size>>>(in, out, rows, cols, factor);
    check_launch("scale_a_row_each");
}

void read_offset(const float *a, const float *b, float *c, int n, int offset)
{
    add(a, b, c, n - offset, offset, 0);
}

void write_offset(const float *a, const float *b, float *c, int n, int offset)
{
    add(a, b, c, n - offset, 0, offset);
}

void add_unrolled(const float *a, const float *b, float *c, int n) { add(a, b, c, n, 0, 0); }

// The first byte that `lane` reads, and how many; 0: it does not read.
static int first_byte(int lane, pattern_kind kind, int p, int *size)
{
    *size = 4;
    switch (kind) {
    case pattern_kind::contiguous:
        return 4 * (p + lane);
    case pattern_kind::reversed:
        return 4 * (p + 31 - lane);
    case pattern_kind::shuffled:
        return 4 * (p + (lane * 11) % 32);
    case pattern_kind::one_address:
        return 4 * p;
    case pattern_kind::strided:
        return 4 * p * lane;
    case pattern_kind::scattered:
        return 4 * (1024 * ((lane * 7) % 32) + p);
    case pattern_kind::two_rows:
        return 4 * ((lane / 16) * p + lane % 16);
    case pattern_kind::first_lanes:
        *size = lane < p ? 4 : 0;
        return 4 * lane;
    case pattern_kind::even_lanes:
        *size = lane % 2 == 0 ? 4 : 0;
        return 4 * (p + lane);
    case pattern_kind::bytes:
        *size = 1;
        return p + lane;
    case pattern_kind::float2_each:
        *size = 8;
        return 8 * (p + lane);
    case pattern_kind::float4_each:
        *size = 16;
        return 16 * (p + lane);
    }
    throw std::invalid_argument("predict: no such pattern_kind; see lab.hpp");
}

// How many different pieces of `bytes` bytes the active lanes touch. No lane's read crosses one.
static int distinct_pieces(const access_pattern &pattern, int bytes)
{
    int seen[32], count = 0;
    for (int lane = 0; lane < 32; ++lane) {
        int size, piece = first_byte(lane, pattern.kind, pattern.parameter, &size) / bytes;
        bool known = size == 0;
        for (int k = 0; k < count; ++k) known = known || seen[k] == piece;
        if (!known) seen[count++] = piece;
    }
    return count;
}

void predict(const access_pattern *patterns_host, prediction *out_host, int count)
{
    for (int i = 0; i < count; ++i)
        out_host[i] = {distinct_pieces(patterns_host[i], 32),
                       distinct_pieces(patterns_host[i], 128)};
}
