// Lab 02, worked: aligned 16-byte loads at every offset, realigned between the lanes of a warp.
//
// All four tasks are one stream: out[i] = f(in[i], ...), where every pointer may start anywhere.
// The output decides: its body begins at a 128-byte boundary, and a warp handles `stretch` elements
// of it at a time, two rows of 32 float4. An input that starts `shift` floats past a sector
// boundary is read from that boundary on, and each lane takes the floats it needs from the lanes
// after it.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <cstdint>

constexpr int block_size = 256, warps_per_block = block_size / 32;
constexpr int rows_per_stretch = 2; // 32 bytes per thread and input in flight
constexpr int stretch = rows_per_stretch * 32 * 4;
constexpr int sector = 8, line = 32; // in floats

// How many floats `p` lies past the last boundary of `unit` floats.
static int phase(const float *p, int unit)
{
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(p) / sizeof(float) % unit);
}

// The body of n elements: `stretches` from element `head` on. The rest, the two ends, is done one
// by one.
struct split {
    int n, head, stretches;
    __host__ __device__ int body() const { return stretches * stretch; }
};

static split split_at_lines(const float *out, int n)
{
    // A sector is kept free at both ends, so that reading from a sector boundary before the body,
    // or two float4 beyond it, stays inside every input.
    int head = line - phase(out, line);
    if (head < sector) head += line;
    int room = n - head - sector;
    return {n, head, room > 0 ? room / stretch : 0};
}

static int blocks_for(const split &s)
{
    return (s.stretches + warps_per_block - 1) / warps_per_block + 1; // the last block: the ends
}

// The elements outside the body, shared out among the threads of one block.
template <class F> static __device__ void at_both_ends(const split &s, F do_element)
{
    for (int k = threadIdx.x; k < s.n - s.body(); k += block_size)
        do_element(k < s.head ? k : k + s.body());
}

// One input of a stretch as it lies in memory, from a sector boundary on.
struct quads {
    float4 row[rows_per_stretch + 1]; // of the last row only lanes 0 and 1 hold anything
};

static __device__ quads load(const float *first, int shift)
{
    int lane = threadIdx.x % 32;
    const float4 *from = reinterpret_cast<const float4 *>(first - shift) + lane;
    quads q;
    for (int r = 0; r < rows_per_stretch; ++r) q.row[r] = from[32 * r];
    // The float4 that the last lanes lack: one sector more.
    q.row[rows_per_stretch] = {};
    if (shift > 0 && lane < 2) q.row[rows_per_stretch] = from[32 * rows_per_stretch];
    return q;
}

// {v[r], v[r + 1], v[r + 2], v[r + 3]}, indices modulo 4.
static __device__ float4 rotate(float4 v, int r)
{
    if (r & 1) v = {v.y, v.z, v.w, v.x};
    if (r & 2) v = {v.z, v.w, v.x, v.y};
    return v;
}

// The value `ahead` lanes further on; beyond lane 31 it is the next row's.
static __device__ float from_lane(float here, float next, int ahead)
{
    int lane = threadIdx.x % 32;
    // The low lanes are asked only by those that wrap around: they hand out the next row.
    return __shfl_sync(0xffffffffu, lane < ahead ? next : here, (lane + ahead) % 32);
}

// Row r, `shift` floats further on. Float e of a lane's answer is float (e + shift) % 4 of the lane
// (e + shift) / 4 ahead: rotating first makes it float e there, so that whole lanes can be shifted.
static __device__ float4 realigned(const quads &q, int r, int shift)
{
    if (shift == 0) return q.row[r];
    float4 here = rotate(q.row[r], shift), next = rotate(q.row[r + 1], shift);
    return {from_lane(here.x, next.x, shift / 4), from_lane(here.y, next.y, (shift + 1) / 4),
            from_lane(here.z, next.z, (shift + 2) / 4), from_lane(here.w, next.w, (shift + 3) / 4)};
}

static __global__ void __launch_bounds__(block_size)
    add_stretches(const float *a, const float *b, float *c, split s, int shift_a, int shift_b)
{
    if (blockIdx.x == gridDim.x - 1) {
        at_both_ends(s, [=](int i) { c[i] = a[i] + b[i]; });
        return;
    }
    int warp = blockIdx.x * warps_per_block + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (warp >= s.stretches) return; // the whole warp: every lane must be there to shuffle
    int first = s.head + warp * stretch;
    quads qa = load(a + first, shift_a), qb = load(b + first, shift_b);
    float4 *out = reinterpret_cast<float4 *>(c + first) + lane;
    for (int r = 0; r < rows_per_stretch; ++r) {
        float4 va = realigned(qa, r, shift_a), vb = realigned(qb, r, shift_b);
        out[32 * r] = {va.x + vb.x, va.y + vb.y, va.z + vb.z, va.w + vb.w};
    }
}

static void add(const float *a, const float *b, float *c, int n)
{
    if (n <= 0) return;
    split s = split_at_lines(c, n);
    int shift_a = phase(a + s.head, sector), shift_b = phase(b + s.head, sector);
    add_stretches<<<blocks_for(s), block_size>>>(a, b, c, s, shift_a, shift_b);
    check_launch("add_stretches");
}

// An offset is only another place to begin.
void read_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset < n) add(a + offset, b + offset, c, n - offset);
}

void write_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset < n) add(a, b, c + offset, n - offset);
}

void add_unrolled(const float *a, const float *b, float *c, int n) { add(a, b, c, n); }

// The factors of columns col to col + 3, where the first column follows the last.
static __device__ float4 factors_from(const float *factor, unsigned col, unsigned cols,
                                      bool by_quads)
{
    if (by_quads) return reinterpret_cast<const float4 *>(factor)[col / 4];
    float f[4];
    for (int k = 0; k < 4; ++k) {
        f[k] = factor[col];
        col = col + 1 == cols ? 0 : col + 1;
    }
    return {f[0], f[1], f[2], f[3]};
}

static __global__ void __launch_bounds__(block_size)
    scale_stretches(const float *in, float *out, split s, unsigned cols, const float *factor,
                    int shift, bool by_quads)
{
    if (blockIdx.x == gridDim.x - 1) {
        at_both_ends(s, [=](int i) { out[i] = in[i] * factor[i % cols]; });
        return;
    }
    int warp = blockIdx.x * warps_per_block + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (warp >= s.stretches) return;
    int first = s.head + warp * stretch;
    quads q = load(in + first, shift);
    float4 *to = reinterpret_cast<float4 *>(out + first) + lane;
    for (int r = 0; r < rows_per_stretch; ++r) {
        // The matrix is one flat stream; the column is where a row would have wrapped.
        unsigned col = (first + 4u * (32 * r + lane)) % cols;
        float4 f = factors_from(factor, col, cols, by_quads), v = realigned(q, r, shift);
        to[32 * r] = {v.x * f.x, v.y * f.y, v.z * f.z, v.w * f.w};
    }
}

void scale_columns(const float *in, float *out, int rows, int cols, const float *factor)
{
    if (rows == 0 || cols == 0) return;
    split s = split_at_lines(out, rows * cols);
    // Where rows are whole float4 and the body begins with one, no float4 straddles two rows.
    bool by_quads = cols % 4 == 0 && s.head % 4 == 0 && phase(factor, 4) == 0;
    scale_stretches<<<blocks_for(s), block_size>>>(in, out, s, cols, factor,
                                                   phase(in + s.head, sector), by_quads);
    check_launch("scale_stretches");
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
    return 0; // lab.hpp has no other kind
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
        resident_host[i] = min(min(limits.blocks, by_warps), min(by_registers, by_shared));
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
