// Lab 02, rung 1: neighbouring lanes handle neighbouring elements of the matrix.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <stdexcept>

constexpr int block_size = 256;

static int blocks_for(int n, int elements_per_block)
{
    return (n + elements_per_block - 1) / elements_per_block;
}

// A thread an element: the lanes of a warp handle neighbours, whose sectors they share.
static __global__ void scale_one_each(const float *in, float *out, int n, int cols,
                                      const float *factor)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    // The matrix is one array, row after row: what is left over after whole rows is the column.
    if (i < n) out[i] = in[i] * factor[i % cols];
}

void scale_columns(const float *in, float *out, int rows, int cols, const float *factor)
{
    int n = rows * cols;
    if (n == 0) return;
    scale_one_each<<<blocks_for(n, block_size), block_size>>>(in, out, n, cols, factor);
    check_launch("scale_one_each");
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
    add_one_each<<<blocks_for(count, block_size), block_size>>>(a, b, c, count, from, to);
    check_launch("add_one_each");
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

// Pieces of `size` bytes that `length` bytes from byte `first` on touch.
static int pieces(int first, int length, int size)
{
    return (first + length - 1) / size - first / size + 1;
}

static int pieces_touched(const access_pattern &pattern, int size)
{
    int p = pattern.parameter;
    switch (pattern.kind) {
    case pattern_kind::contiguous:
    case pattern_kind::reversed: // only the set of addresses counts, not who reads which
    case pattern_kind::shuffled:
        return pieces(4 * p, 128, size);
    case pattern_kind::one_address:
        return 1;
    case pattern_kind::strided: // a stride within a piece skips none; a longer one: a piece each
        return 4 * p <= size ? pieces(0, 31 * 4 * p + 4, size) : 32;
    case pattern_kind::scattered:
        return 32;
    case pattern_kind::two_rows: // the rows may meet in one piece
        return pieces(0, 64, size) + pieces(4 * p, 64, size) - (4 * p / size == 63 / size);
    case pattern_kind::first_lanes:
        return pieces(0, 4 * p, size);
    case pattern_kind::even_lanes:
        return pieces(4 * p, 31 * 4, size);
    case pattern_kind::bytes:
        return pieces(p, 32, size);
    case pattern_kind::float2_each:
        return pieces(8 * p, 256, size);
    case pattern_kind::float4_each:
        return pieces(16 * p, 512, size);
    }
    throw std::invalid_argument("predict: no such pattern_kind; see lab.hpp");
}

void predict(const access_pattern *patterns_host, prediction *out_host, int count)
{
    for (int i = 0; i < count; ++i)
        out_host[i] = {pieces_touched(patterns_host[i], 32), pieces_touched(patterns_host[i], 128)};
}

static int rounded_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

void resident_blocks(const block_needs *blocks_host, int *resident_host, int count,
                     sm_limits limits)
{
    for (int i = 0; i < count; ++i) {
        const block_needs &block = blocks_host[i];
        int warps = (block.threads + 31) / 32;
        int by_warps = limits.threads / 32 / warps;
        // Registers are shared out to warps, and a partition cannot lend any to another.
        int of_warp = rounded_up(32 * block.registers, limits.register_unit);
        int warps_of_partition = limits.registers / limits.partitions / of_warp;
        int by_registers = limits.partitions * warps_of_partition / warps;
        int bytes = rounded_up(block.shared_bytes + limits.shared_reserved, limits.shared_unit);
        int by_shared = bytes > 0 ? limits.shared_bytes / bytes : limits.blocks;
        resident_host[i] = std::min({limits.blocks, by_warps, by_registers, by_shared});
    }
}

// Little's law: bytes in flight = latency * bandwidth. A GB/s is a byte per nanosecond, and a cycle
// takes 1000 / clock_mhz nanoseconds; both sides are multiplied by clock_mhz to stay whole.
void warps_hiding_latency(const memory_demand *demands_host, int *warps_host, int count)
{
    for (int i = 0; i < count; ++i) {
        const memory_demand &m = demands_host[i];
        long long needed = 1000LL * m.latency_cycles * m.gb_per_s;
        long long of_warp = 32LL * m.bytes_per_thread * m.multiprocessors * m.clock_mhz;
        warps_host[i] = static_cast<int>((needed + of_warp - 1) / of_warp);
    }
}
