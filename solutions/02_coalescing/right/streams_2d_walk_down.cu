// Right: 2-D blocks walk down the columns with the factor in a register; ends and middle of the
// offset sums run in two streams joined by events.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <unordered_set>

// A side stream that starts after what the default stream has, and that the
// default stream waits for.
class side_stream {
public:
    side_stream()
    {
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
        check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreate");
    }
    ~side_stream()
    {
        cudaEventDestroy(event_);
        cudaStreamDestroy(stream_);
    }
    side_stream(const side_stream &) = delete;
    side_stream &operator=(const side_stream &) = delete;
    cudaStream_t fork()
    {
        order(nullptr, stream_);
        return stream_;
    }
    void join() { order(stream_, nullptr); }

private:
    void order(cudaStream_t first, cudaStream_t then)
    {
        check(cudaEventRecord(event_, first), "cudaEventRecord");
        check(cudaStreamWaitEvent(then, event_, 0), "cudaStreamWaitEvent");
    }
    cudaStream_t stream_ = nullptr;
    cudaEvent_t event_ = nullptr;
};

static side_stream &other()
{
    static auto *stream = new side_stream; // lives as long as the program: no exit order to mind
    return *stream;
}

constexpr int down = 8; // rows of a block of 32 x 8, and rows a thread loads together

static __global__ void scale_down(const float *in, float *out, int rows, int cols,
                                  const float *factor, int across)
{
    int col = blockIdx.x % across * 32 + threadIdx.x;
    if (col >= cols) return;
    float f = factor[col];
    int row = blockIdx.x / across * down * down + threadIdx.y;
    float x[down];
#pragma unroll
    for (int r = 0; r < down; ++r)
        if (row + r * down < rows) x[r] = in[(row + r * down) * cols + col];
#pragma unroll
    for (int r = 0; r < down; ++r)
        if (row + r * down < rows) out[(row + r * down) * cols + col] = x[r] * f;
}

void scale_columns(const float *in, float *out, int rows, int cols, const float *factor)
{
    if (rows == 0 || cols == 0) return;
    int across = (cols - 1) / 32 + 1, stacked = (rows - 1) / (down * down) + 1;
    scale_down<<<across * stacked, dim3(32, down)>>>(in, out, rows, cols, factor, across);
    check_launch("scale_down");
}

constexpr int rows_per_warp = 16, warps = 4;

// The middle: rows of 32 results that begin at sectors of c, for which whole
// rows of a and b, and one more, lie inside the arrays. No test anywhere.
static __global__ void __launch_bounds__(32 * warps)
    add_middle(const float *a, const float *b, float *c, int shift_a, int shift_b)
{
    __shared__ float rows[2][warps][rows_per_warp * 32 + 8];
    int lane = threadIdx.x, warp = threadIdx.y;
    int first = (blockIdx.x * warps + warp) * rows_per_warp * 32;
    float *x = rows[0][warp], *y = rows[1][warp];
#pragma unroll
    for (int r = 0; r < rows_per_warp; ++r) {
        x[32 * r + lane] = a[first - shift_a + 32 * r + lane];
        y[32 * r + lane] = b[first - shift_b + 32 * r + lane];
    }
    int more = rows_per_warp * 32 + lane;
    if (lane < shift_a) x[more] = a[first - shift_a + more];
    if (lane < shift_b) y[more] = b[first - shift_b + more];
    __syncwarp();
#pragma unroll
    for (int r = 0; r < rows_per_warp; ++r)
        c[first + 32 * r + lane] = x[32 * r + lane + shift_a] + y[32 * r + lane + shift_b];
}

// Both ends, a thread an element: [0, from) and [to, n).
static __global__ void add_ends(const float *a, const float *b, float *c, int n, int from, int to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= from) i += to - from;
    if (i < n) c[i] = a[i] + b[i];
}

static int beyond_sector(const float *p)
{
    return static_cast<int>(reinterpret_cast<uintptr_t>(p) / sizeof(float) % 8);
}

static void add(const float *a, const float *b, float *c, int n)
{
    if (n <= 0) return;
    constexpr int a_block = warps * rows_per_warp * 32;
    // Eight elements at least before the middle: there the rows of a and b begin.
    int from = std::min(n, 8 + (8 - beyond_sector(c)) % 8);
    int blocks = (n - from) / a_block, to = from + blocks * a_block;
    if (blocks > 0) {
        int shift_a = beyond_sector(a + from), shift_b = beyond_sector(b + from);
        add_middle<<<blocks, dim3(32, warps), 0, other().fork()>>>(a + from, b + from, c + from,
                                                                   shift_a, shift_b);
        check_launch("add_middle");
    }
    add_ends<<<(from + n - to + 127) / 128, 128>>>(a, b, c, n, from, to);
    check_launch("add_ends");
    if (blocks > 0) other().join();
}

void read_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset < n) add(a + offset, b + offset, c, n - offset);
}

void write_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset < n) add(a, b, c + offset, n - offset);
}

void add_unrolled(const float *a, const float *b, float *c, int n) { add(a, b, c, n); }

void predict(const access_pattern *patterns_host, prediction *out_host, int count)
{
    using k = pattern_kind;
    while (count-- > 0) {
        auto [kind, p] = *patterns_host++;
        std::unordered_set<int> sectors, lines;
        for (int lane = 0; lane < 32; ++lane) {
            if ((kind == k::first_lanes && lane >= p) || (kind == k::even_lanes && lane % 2))
                continue;
            int width = kind == k::bytes         ? 1
                        : kind == k::float2_each ? 8
                        : kind == k::float4_each ? 16
                                                 : 4;
            int element = kind == k::one_address   ? p
                          : kind == k::strided     ? p * lane
                          : kind == k::scattered   ? 1024 * lane + p
                          : kind == k::two_rows    ? lane / 16 * p + lane % 16
                          : kind == k::first_lanes ? lane
                                                   : p + lane;
            sectors.insert(element * width / 32);
            lines.insert(element * width / 128);
        }
        *out_host++ = {static_cast<int>(sectors.size()), static_cast<int>(lines.size())};
    }
}
