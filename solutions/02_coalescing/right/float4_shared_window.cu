// Right: blocks bring a window of aligned float4 into dynamic shared memory and take it out at
// another alignment, as float4 again.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <bitset>
#include <cstdint>

constexpr int threads = 256, a_block = 4096; // results a block: four float4 a thread
constexpr int window = a_block + 8;          // floats of a or b that they may need
constexpr int bytes_shared = 2 * window * sizeof(float);

static __device__ int beyond(const float *p, int floats)
{
    return static_cast<int>(reinterpret_cast<uintptr_t>(p) / sizeof(float) % floats);
}

// Brings from[first] to from[first + window - 1], or what is of that within
// [0, n). from + first lies at a sector boundary.
static __device__ void bring(float *to, const float *from, int first, int n, int wanted)
{
#pragma unroll
    for (int e = 4 * threadIdx.x; e < window; e += 4 * threads) {
        int i = first + e;
        if (e >= wanted) break;
        if (i >= 0 && i + 4 <= n) {
            *reinterpret_cast<float4 *>(to + e) = *reinterpret_cast<const float4 *>(from + i);
        } else { // at an end of the array
            for (int c = 0; c < 4; ++c)
                if (i + c >= 0 && i + c < n) to[e + c] = from[i + c];
        }
    }
}

static __global__ void __launch_bounds__(threads)
    add_windows(const float *a, const float *b, float *c, int n)
{
    extern __shared__ float4 memory[];
    float *of_a = reinterpret_cast<float *>(memory), *of_b = of_a + window;
    int at = beyond(c, 8), i0 = blockIdx.x * a_block - at; // c + i0: at a sector
    // The window of a begins at the sector boundary before a[i0].
    int skip_a = (beyond(a, 8) + 8 - at) % 8, skip_b = (beyond(b, 8) + 8 - at) % 8;
    bring(of_a, a, i0 - skip_a, n, a_block + skip_a);
    bring(of_b, b, i0 - skip_b, n, a_block + skip_b);
    __syncthreads();
#pragma unroll
    for (int e = 4 * threadIdx.x; e < a_block; e += 4 * threads) {
        const float *x = of_a + e + skip_a, *y = of_b + e + skip_b;
        int i = i0 + e;
        if (i >= 0 && i + 4 <= n) {
            *reinterpret_cast<float4 *>(c + i) =
                make_float4(x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3]);
        } else {
            for (int k = 0; k < 4; ++k)
                if (i + k >= 0 && i + k < n) c[i + k] = x[k] + y[k];
        }
    }
}

static void add(const float *a, const float *b, float *c, int n)
{
    if (n <= 0) return;
    int blocks = (n + 7 + a_block - 1) / a_block; // 7: what lies before c in its sector
    add_windows<<<blocks, threads, bytes_shared>>>(a, b, c, n);
    check_launch("add_windows");
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

// The same way for a matrix; the factors of a block's columns come to shared
// memory too, so that lanes side by side load neighbours of everything.
static __global__ void __launch_bounds__(threads)
    scale(const float *in, float *out, int n, int cols, const float *factor)
{
    extern __shared__ float4 memory[];
    float *of_in = reinterpret_cast<float *>(memory), *factors = of_in + window;
    int at = beyond(out, 8), i0 = blockIdx.x * a_block - at;
    int skip = (beyond(in, 8) + 8 - at) % 8;
    bring(of_in, in, i0 - skip, n, a_block + skip);
    int col0 = max(i0, 0) % cols, before = max(-i0, 0); // only the first block begins before 0
    for (int e = threadIdx.x; e < a_block; e += threads)
        if (e >= before) factors[e] = factor[(col0 + e - before) % cols];
    __syncthreads();
#pragma unroll
    for (int e = 4 * threadIdx.x; e < a_block; e += 4 * threads) {
        const float *x = of_in + e + skip, *f = factors + e;
        int i = i0 + e;
        if (i >= 0 && i + 4 <= n) {
            __stcs(reinterpret_cast<float4 *>(out + i),
                   make_float4(x[0] * f[0], x[1] * f[1], x[2] * f[2], x[3] * f[3]));
        } else {
            for (int k = 0; k < 4; ++k)
                if (i + k >= 0 && i + k < n) out[i + k] = x[k] * f[k];
        }
    }
}

void scale_columns(const float *in, float *out, int rows, int cols, const float *factor)
{
    int n = rows * cols;
    if (n == 0) return;
    scale<<<(n + 7 + a_block - 1) / a_block, threads, bytes_shared>>>(in, out, n, cols, factor);
    check_launch("scale");
}

// Marks each byte's sector in a bit set; the farthest is float 1024 * 31 + 1023
// or 4096 * 31.
void predict(const access_pattern *patterns_host, prediction *out_host, int count)
{
    static std::bitset<4096 * 32 / 8> sectors;
    static std::bitset<4096 * 32 / 32> lines;
    for (int i = 0; i < count; ++i) {
        auto [kind, p] = patterns_host[i];
        sectors.reset();
        lines.reset();
        auto touch = [](int byte) { sectors.set(byte / 32), lines.set(byte / 128); };
        for (int lane = 0; lane < 32; ++lane) {
            switch (kind) {
            case pattern_kind::contiguous:
            case pattern_kind::reversed:
            case pattern_kind::shuffled:
                touch(4 * (p + lane));
                break; // the same, in some order
            case pattern_kind::one_address:
                touch(4 * p);
                break;
            case pattern_kind::strided:
                touch(4 * p * lane);
                break;
            case pattern_kind::scattered:
                touch(4 * (1024 * lane + p));
                break;
            case pattern_kind::two_rows:
                touch(4 * (lane / 16 * p + lane % 16));
                break;
            case pattern_kind::first_lanes:
                touch(4 * (lane < p ? lane : 0));
                break;
            case pattern_kind::even_lanes:
                touch(4 * (p + lane / 2 * 2));
                break;
            case pattern_kind::bytes:
                touch(p + lane);
                break;
            case pattern_kind::float2_each:
                touch(8 * (p + lane));
                break;
            case pattern_kind::float4_each:
                touch(16 * (p + lane));
                break;
            }
        }
        out_host[i].sectors = static_cast<int>(sectors.count());
        out_host[i].lines = static_cast<int>(lines.count());
    }
}
