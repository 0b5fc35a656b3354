// Lab 02, rung 4: offsets that cost no sector. A warp loads whole sectors and passes the floats on
// between its lanes; the rest as in rung 3.
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

constexpr int row = 32, rows_per_warp = 4, sector = 8; // floats
constexpr int stretch = row * rows_per_warp;           // floats that a warp adds

// How many floats `p` lies past the last sector boundary.
static int phase(const float *p)
{
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(p) / sizeof(float) % sector);
}

struct aligned_rows {
    float x[rows_per_warp + 1]; // of the last row only the first sector
};

// A stretch as it lies in memory, from the sector boundary at or before `first` on.
static __device__ aligned_rows load(const float *first, int shift)
{
    int lane = threadIdx.x % 32;
    const float *from = first - shift + lane;
    aligned_rows rows;
    for (int r = 0; r < rows_per_warp; ++r) rows.x[r] = from[r * row];
    rows.x[rows_per_warp] = shift > 0 && lane < sector ? from[rows_per_warp * row] : 0;
    return rows;
}

// Each lane takes the float that lies `shift` lanes ahead; beyond lane 31 that is in the next row.
// So the first lanes, which only those ask, hand out their float of the next row.
static __device__ float realigned(const aligned_rows &rows, int r, int shift)
{
    int lane = threadIdx.x % 32;
    return __shfl_sync(0xffffffffu, lane < shift ? rows.x[r + 1] : rows.x[r], (lane + shift) % 32);
}

// c[i] = a[i] + b[i] for 0 <= i < n. Stretches begin at element `head`, where c is at a sector
// boundary; the last block adds what lies before and behind them.
static __global__ void add_stretches(const float *a, const float *b, float *c, int n, int head,
                                     int stretches, int shift_a, int shift_b)
{
    if (blockIdx.x == gridDim.x - 1) {
        int body = stretches * stretch;
        for (int k = threadIdx.x; k < n - body; k += block_size) {
            int i = k < head ? k : k + body;
            c[i] = a[i] + b[i];
        }
        return;
    }
    int warp = (blockIdx.x * block_size + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (warp >= stretches) return; // the whole warp: every lane must be there to shuffle
    int first = head + warp * stretch;
    aligned_rows x = load(a + first, shift_a), y = load(b + first, shift_b);
    for (int r = 0; r < rows_per_warp; ++r)
        c[first + r * row + lane] = realigned(x, r, shift_a) + realigned(y, r, shift_b);
}

static void add_realigned(const float *a, const float *b, float *c, int n)
{
    if (n <= 0) return;
    // A sector stays free at both ends, so that aligned loads never leave an array.
    int head = 2 * sector - phase(c), room = n - head - sector;
    int stretches = room > 0 ? room / stretch : 0;
    int blocks = blocks_for(stretches, block_size / 32) + 1;
    add_stretches<<<blocks, block_size>>>(a, b, c, n, head, stretches, phase(a + head),
                                          phase(b + head));
    check_launch("add_stretches");
}

void read_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset < n) add_realigned(a + offset, b + offset, c, n - offset);
}

void write_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset < n) add_realigned(a, b, c + offset, n - offset);
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
