// Right: a fixed grid of 2 blocks a multiprocessor; a warp walks along its own stretch, carrying
// the last row it loaded over to the next.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <set>

constexpr int block_size = 256, warps_per_block = block_size / 32;
constexpr int unrolled = 4; // rows of 32 that are under way together

static int grid_size(int n)
{
    int device = 0, sms = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device), "attribute");
    return std::min(2 * sms, (n + block_size - 1) / block_size);
}

static __global__ void scale_elements(const float *in, float *out, int n, int cols,
                                      const float *factor)
{
    int stride = gridDim.x * block_size, step = stride % cols;
    int i = blockIdx.x * block_size + threadIdx.x, col = i % cols;
    for (; i < n; i += stride) {
        out[i] = in[i] * __ldg(factor + col);
        col += step; // instead of a division a turn
        if (col >= cols) col -= cols;
    }
}

void scale_columns(const float *in, float *out, int rows, int cols, const float *factor)
{
    int n = rows * cols;
    if (n == 0) return;
    scale_elements<<<grid_size(n), block_size>>>(in, out, n, cols, factor);
    check_launch("scale_elements");
}

// Floats between the sector boundary before p and p.
__device__ static int beyond_sector(const float *p)
{
    return static_cast<int>(reinterpret_cast<uintptr_t>(p) / sizeof(float) % 8);
}

// Reads whole sectors; hands out elements as the rows of the result want them.
class realigned {
public:
    // shift: by how many floats rows of the result are behind sectors of `from`
    __device__ realigned(const float *from, int n, int result_beyond)
        : from_(from), n_(n), lane_(threadIdx.x % 32)
    {
        int difference = beyond_sector(from) - result_beyond;
        shift_ = difference < 0 ? difference + 8 : difference;
        first_ = -result_beyond - shift_; // of row 0: at a sector of `from`
    }
    // Only lanes that hold something for the rows from `row` on.
    __device__ void begin(int row) { carried_ = load(row, lane_ >= shift_); }
    // One row on; `last`: nobody asks for the next one's later floats.
    __device__ float load_next(int row, bool last) const
    {
        return load(row + 1, !last || lane_ < shift_);
    }
    __device__ float take(float next)
    {
        float mine =
            __shfl_sync(0xffffffff, lane_ < shift_ ? next : carried_, (lane_ + shift_) % 32);
        carried_ = next;
        return mine;
    }

private:
    __device__ float load(int row, bool wanted) const
    {
        int i = first_ + 32 * row + lane_;
        return wanted && i >= 0 && i < n_ ? from_[i] : 0;
    }
    const float *from_;
    int n_, lane_, shift_, first_;
    float carried_ = 0;
};

// c[i] = a[i] + b[i] where a, b, c may lie anywhere, every one differently.
static __global__ void add_anywhere(const float *a, const float *b, float *c, int n, int rows,
                                    int rows_per_warp)
{
    int warp = blockIdx.x * warps_per_block + threadIdx.x / 32, lane = threadIdx.x % 32;
    int row = warp * rows_per_warp, end = min(rows, row + rows_per_warp);
    if (row >= end) return;
    int beyond = beyond_sector(c);
    realigned left(a, n, beyond), right(b, n, beyond);
    left.begin(row);
    right.begin(row);
    for (; row < end; row += unrolled) {
        float next_left[unrolled], next_right[unrolled];
#pragma unroll
        for (int u = 0; u < unrolled; ++u) {
            next_left[u] = left.load_next(row + u, row + u + 1 == end);
            next_right[u] = right.load_next(row + u, row + u + 1 == end);
        }
#pragma unroll
        for (int u = 0; u < unrolled; ++u) {
            float sum = left.take(next_left[u]) + right.take(next_right[u]);
            int i = 32 * (row + u) - beyond + lane;
            if (row + u < end && i >= 0 && i < n) c[i] = sum;
        }
    }
}

static void add(const float *a, const float *b, float *c, int n)
{
    int grid = grid_size(n), rows = (n + 7 + 31) / 32;
    // Long stretches: at each end a sector is shared with a neighbour.
    int rows_per_warp = std::max(64, (rows - 1) / (grid * warps_per_block) + 1);
    rows_per_warp = (rows_per_warp + unrolled - 1) / unrolled * unrolled;
    add_anywhere<<<grid, block_size>>>(a, b, c, n, rows, rows_per_warp);
    check_launch("add_anywhere");
}

void read_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset < n) add(a + offset, b + offset, c, n - offset);
}

void write_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset < n) add(a, b, c + offset, n - offset);
}

void add_unrolled(const float *a, const float *b, float *c, int n)
{
    if (n > 0) add(a, b, c, n);
}

// Asks every lane, and keeps what was touched in sets.
void predict(const access_pattern *patterns_host, prediction *out_host, int count)
{
    for (int i = 0; i < count; ++i) {
        const int p = patterns_host[i].parameter;
        std::set<int> sectors, lines;
        for (int lane = 0; lane < 32; ++lane) {
            int first = 0, bytes = 4; // in bytes
            bool reads = true;
            switch (patterns_host[i].kind) {
            case pattern_kind::contiguous:
                first = 4 * (p + lane);
                break;
            case pattern_kind::reversed:
                first = 4 * (p + 31 - lane);
                break;
            case pattern_kind::shuffled:
                first = 4 * (p + lane * 11 % 32);
                break;
            case pattern_kind::one_address:
                first = 4 * p;
                break;
            case pattern_kind::strided:
                first = 4 * p * lane;
                break;
            case pattern_kind::scattered:
                first = 4 * (1024 * (lane * 7 % 32) + p);
                break;
            case pattern_kind::two_rows:
                first = 4 * (lane / 16 * p + lane % 16);
                break;
            case pattern_kind::first_lanes:
                first = 4 * lane, reads = lane < p;
                break;
            case pattern_kind::even_lanes:
                first = 4 * (p + lane), reads = lane % 2 == 0;
                break;
            case pattern_kind::bytes:
                first = p + lane, bytes = 1;
                break;
            case pattern_kind::float2_each:
                first = 8 * (p + lane), bytes = 8;
                break;
            case pattern_kind::float4_each:
                first = 16 * (p + lane), bytes = 16;
                break;
            }
            if (!reads) continue;
            for (int b = first; b < first + bytes; ++b) {
                sectors.insert(b / 32);
                lines.insert(b / 128);
            }
        }
        out_host[i] = {static_cast<int>(sectors.size()), static_cast<int>(lines.size())};
    }
}
