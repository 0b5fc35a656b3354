// Lab 02, rung 3: 16 bytes a lane and request where every array begins at a multiple of 16, else as
// in rung 2.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>

constexpr int block_size = 256;
constexpr int per_thread = 4; // elements

static int blocks_for(int n, int elements_a_block)
{
    return (n + elements_a_block - 1) / elements_a_block;
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

// A thread a float4: one request moves four sectors for every one that a float would.
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
