// Right: C++20: one kernel template runs function objects over rows of 32, arrays are
// cuda::std::span, and predict is a constexpr rule checked by static_assert.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda/std/array>
#include <cuda/std/span>
#include <cuda_runtime.h>

#include <array>
#include <bit>
#include <concepts>
#include <span>

namespace {

using floats = cuda::std::span<const float>;
constexpr int warps = 8, rows_per_warp = 32, batch = 8;

template <typename F>
concept row_function = std::is_trivially_copyable_v<F> && requires
{
    &F::operator();
};

// Calls f(first row, lane) for batches of rows, a stretch of 32 rows a warp.
template <row_function F> __global__ void __launch_bounds__(32 * warps) for_rows(int rows, F f)
{
    int first = (blockIdx.x * warps + threadIdx.x / 32) * rows_per_warp, lane = threadIdx.x % 32;
    if (first < rows) f(first, lane);
}

template <row_function F> void launch(int rows, F f)
{
    int blocks = (rows + warps * rows_per_warp - 1) / (warps * rows_per_warp);
    for_rows<<<blocks, 32 * warps>>>(rows, f);
    check_launch("for_rows");
}

int in_sector(const float *p) { return std::bit_cast<size_t>(p) / sizeof(float) % 8; }

// An array seen in rows of 32 that begin at sectors; the result's rows lie
// `shift` floats further on.
struct aligned_view {
    floats all;
    int first, shift; // all[first] is the first float of row 0; first may be negative
    __device__ float at(int row, int lane) const
    {
        int i = first + 32 * row + lane;
        return i >= 0 && i < static_cast<int>(all.size()) ? all[i] : 0.0f;
    }
};

aligned_view view(const float *from, int n, int result_in_sector)
{
    int shift = (in_sector(from) - result_in_sector + 8) % 8;
    return {.all = floats(from, n), .first = -result_in_sector - shift, .shift = shift};
}

// A batch of rows, and the sector after them that the last row's lanes lack.
template <int n> struct loaded_rows {
    cuda::std::array<float, n + 1> row;
    __device__ loaded_rows(const aligned_view &v, int first, int lane, float carried)
    {
        row[0] = carried;
#pragma unroll
        for (int r = 1; r < n; ++r) row[r] = v.at(first + r, lane);
        bool more = (first + n) % rows_per_warp != 0; // then all of it is wanted soon
        row[n] = more || lane < v.shift ? v.at(first + n, lane) : 0.0f;
    }
    __device__ float shifted(int r, int shift, int lane) const
    {
        return __shfl_sync(~0u, lane < shift ? row[r + 1] : row[r], (lane + shift) % 32);
    }
};

struct add_shifted {
    aligned_view a, b;
    float *c;
    int n, skip;
    __device__ void operator()(int first, int lane) const
    {
        float carry_a = a.at(first, lane), carry_b = b.at(first, lane);
        for (int end = first + rows_per_warp; first < end; first += batch) {
            loaded_rows<batch> of_a(a, first, lane, carry_a), of_b(b, first, lane, carry_b);
#pragma unroll
            for (int r = 0; r < batch; ++r) {
                float sum = of_a.shifted(r, a.shift, lane) + of_b.shifted(r, b.shift, lane);
                if (int i = 32 * (first + r) + lane - skip; i >= 0 && i < n) c[i] = sum;
            }
            carry_a = of_a.row[batch], carry_b = of_b.row[batch];
        }
    }
};

void add(const float *a, const float *b, float *c, int n)
{
    if (n <= 0) return;
    const int skip = in_sector(c);
    launch((n + skip + 31) / 32,
           add_shifted{.a = view(a, n, skip), .b = view(b, n, skip), .c = c, .n = n, .skip = skip});
}

} // namespace

void read_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset < n) add(a + offset, b + offset, c, n - offset);
}

void write_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset < n) add(a, b, c + offset, n - offset);
}

void add_unrolled(const float *a, const float *b, float *c, int n) { add(a, b, c, n); }

namespace {

struct scale {
    floats in, factor;
    float *out;
    __device__ void operator()(int first, int lane) const
    {
        const int n = static_cast<int>(in.size()), cols = static_cast<int>(factor.size());
        for (int row = first; row < first + rows_per_warp; row += batch) {
            cuda::std::array<float, batch> x;
#pragma unroll
            for (int r = 0; r < batch; ++r)
                if (int i = 32 * (row + r) + lane; i < n) x[r] = in[i];
#pragma unroll
            for (int r = 0; r < batch; ++r)
                if (int i = 32 * (row + r) + lane; i < n) out[i] = x[r] * factor[i % cols];
        }
    }
};

} // namespace

void scale_columns(const float *in, float *out, int rows, int cols, const float *factor)
{
    int n = rows * cols;
    if (n == 0) return;
    launch((n + 31) / 32, scale{.in = floats(in, n), .factor = floats(factor, cols), .out = out});
}

namespace {

// What the lanes' numbers of sectors (or lines) come to: `size` bytes each.
template <std::invocable<int> F> constexpr int touched(int size, F byte_of_lane)
{
    std::array<int, 32> seen{};
    int count = 0;
    for (int lane = 0; lane < 32; ++lane) {
        int byte = byte_of_lane(lane);
        if (byte < 0) continue; // this lane does not read
        bool is_new = true;
        for (int s : std::span(seen).first(count)) is_new &= s != byte / size;
        if (is_new) seen[count++] = byte / size;
    }
    return count;
}

constexpr prediction answer(access_pattern pattern)
{
    auto byte = [kind = pattern.kind, p = pattern.parameter](int lane) {
        using enum pattern_kind;
        switch (kind) {
        case contiguous:
            return 4 * (p + lane);
        case reversed:
            return 4 * (p + 31 - lane);
        case shuffled:
            return 4 * (p + lane * 11 % 32);
        case one_address:
            return 4 * p;
        case strided:
            return 4 * p * lane;
        case scattered:
            return 4 * (1024 * (lane * 7 % 32) + p);
        case two_rows:
            return 4 * (lane / 16 * p + lane % 16);
        case first_lanes:
            return lane < p ? 4 * lane : -1;
        case even_lanes:
            return lane % 2 == 0 ? 4 * (p + lane) : -1;
        case bytes:
            return p + lane;
        case float2_each:
            return 8 * (p + lane);
        case float4_each:
            return 16 * (p + lane);
        }
        return -1;
    };
    return {.sectors = touched(32, byte), .lines = touched(128, byte)};
}

static_assert(answer({pattern_kind::contiguous, 11}).sectors == 5);
static_assert(answer({pattern_kind::strided, 8}).lines == 8);
static_assert(answer({pattern_kind::float4_each, 0}).sectors == 16);

} // namespace

void predict(const access_pattern *patterns_host, prediction *out_host, int count)
{
    for (std::span patterns(patterns_host, count); auto pattern : patterns)
        *out_host++ = answer(pattern);
}
