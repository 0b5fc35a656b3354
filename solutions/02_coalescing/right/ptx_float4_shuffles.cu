// Right: four rows of float4 a warp, loaded by inline PTX and moved over by shuffles of whole
// float4 and a select; closed formulas in predict.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>

constexpr int threads = 128, rows = 4, row = 128; // floats of a row: a float4 a lane

__device__ static float4 load(const float *from)
{
    float4 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(from));
    return v;
}

// Bits 2 to 4 of an address: floats since the last sector boundary.
__device__ static int since_sector(const float *p)
{
    unsigned floats;
    asm("bfe.u32 %0, %1, 2, 3;"
        : "=r"(floats)
        : "r"(static_cast<unsigned>(reinterpret_cast<unsigned long long>(p))));
    return static_cast<int>(floats);
}

// x[i] to x[i + 3], zeros outside [0, n); x + i is a multiple of 16 bytes.
__device__ static float4 load_inside(const float *x, int i, int n)
{
    if (i >= 0 && i + 4 <= n) return load(x + i);
    float4 v{};
    if (i >= 0 && i < n) v.x = x[i];
    if (i + 1 >= 0 && i + 1 < n) v.y = x[i + 1];
    if (i + 2 >= 0 && i + 2 < n) v.z = x[i + 2];
    if (i + 3 >= 0 && i + 3 < n) v.w = x[i + 3];
    return v;
}

__device__ static float4 from_lane(float4 v, int lane)
{
    constexpr unsigned all = 0xffffffff;
    return {__shfl_sync(all, v.x, lane), __shfl_sync(all, v.y, lane), __shfl_sync(all, v.z, lane),
            __shfl_sync(all, v.w, lane)};
}

// Four of the eight floats of `low` and `high`, from `skip` on.
__device__ static float4 middle(float4 low, float4 high, int skip)
{
    if (skip == 0) return low;
    if (skip == 1) return {low.y, low.z, low.w, high.x};
    if (skip == 2) return {low.z, low.w, high.x, high.y};
    return {low.w, high.x, high.y, high.z};
}

// x[i0 + 128 r + 4 lane] and three more, for the rows r. x + i0 - shift is at a
// sector, 0 <= shift < 8.
__device__ static void load_rows(float4 (&to)[rows], const float *x, int i0, int shift, int n)
{
    int lane = threadIdx.x % 32, lanes = shift / 4, skip = shift % 4;
    float4 v[rows + 1];
#pragma unroll
    for (int r = 0; r < rows; ++r) v[r] = load_inside(x, i0 - shift + r * row + 4 * lane, n);
    // One sector more holds all that the last lanes lack.
    v[rows] = float4{};
    if (shift > 0 && lane < 2) v[rows] = load_inside(x, i0 - shift + rows * row + 4 * lane, n);
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        // My low half is `lanes` lanes up, my high half one more.
        float4 low = from_lane(lane < lanes ? v[r + 1] : v[r], (lane + lanes) % 32);
        float4 high = from_lane(lane < lanes + 1 ? v[r + 1] : v[r], (lane + lanes + 1) % 32);
        to[r] = middle(low, high, skip);
    }
}

__global__ static void __launch_bounds__(threads)
    add(const float *a, const float *b, float *c, int n)
{
    int warp = (blockIdx.x * threads + threadIdx.x) / 32, lane = threadIdx.x % 32;
    int before = since_sector(c), i0 = warp * rows * row - before;
    float4 of_a[rows], of_b[rows];
    load_rows(of_a, a, i0, (since_sector(a) - before) & 7, n);
    load_rows(of_b, b, i0, (since_sector(b) - before) & 7, n);
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        int i = i0 + r * row + 4 * lane;
        float s[4] = {of_a[r].x + of_b[r].x, of_a[r].y + of_b[r].y, of_a[r].z + of_b[r].z,
                      of_a[r].w + of_b[r].w};
        if (i >= 0 && i + 4 <= n) {
            asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(c + i), "f"(s[0]),
                         "f"(s[1]), "f"(s[2]), "f"(s[3])
                         : "memory");
        } else {
            for (int e = 0; e < 4; ++e)
                if (i + e >= 0 && i + e < n) c[i + e] = s[e];
        }
    }
}

static void launch_add(const float *a, const float *b, float *c, int n)
{
    if (n <= 0) return;
    constexpr int a_block = threads / 32 * rows * row;
    add<<<(n + 7 + a_block - 1) / a_block, threads>>>(a, b, c, n);
    check_launch("add");
}

void read_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset < n) launch_add(a + offset, b + offset, c, n - offset);
}

void write_offset(const float *a, const float *b, float *c, int n, int offset)
{
    if (offset < n) launch_add(a, b, c + offset, n - offset);
}

void add_unrolled(const float *a, const float *b, float *c, int n) { launch_add(a, b, c, n); }

__global__ static void __launch_bounds__(threads)
    scale(const float *in, float *out, int n, int cols, const float *factor)
{
    float x[8];
    int first = blockIdx.x * threads * 8 + threadIdx.x;
#pragma unroll
    for (int u = 0; u < 8; ++u) {
        int i = first + u * threads;
        if (i < n) asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(x[u]) : "l"(in + i));
    }
#pragma unroll
    for (int u = 0; u < 8; ++u) {
        int i = first + u * threads;
        if (i < n) out[i] = x[u] * factor[i % cols];
    }
}

void scale_columns(const float *in, float *out, int rows_, int cols, const float *factor)
{
    int n = rows_ * cols;
    if (n == 0) return;
    scale<<<(n + 8 * threads - 1) / (8 * threads), threads>>>(in, out, n, cols, factor);
    check_launch("scale");
}

void predict(const access_pattern *patterns_host, prediction *out_host, int count)
{
    // Pieces of `size` bytes that `bytes` bytes from `first` on touch.
    auto touched = [](int first, int bytes, int size) {
        return (first + bytes - 1) / size - first / size + 1;
    };
    auto run = [&](int first, int bytes) {
        return prediction{touched(first, bytes, 32), touched(first, bytes, 128)};
    };
    for (int i = 0; i < count; ++i) {
        int p = patterns_host[i].parameter;
        switch (patterns_host[i].kind) {
        case pattern_kind::contiguous:
        case pattern_kind::reversed:
        case pattern_kind::shuffled:
            out_host[i] = run(4 * p, 128);
            break;
        case pattern_kind::one_address:
            out_host[i] = {1, 1};
            break;
        case pattern_kind::bytes:
            out_host[i] = run(p, 32);
            break;
        case pattern_kind::float2_each:
            out_host[i] = run(8 * p, 256);
            break;
        case pattern_kind::float4_each:
            out_host[i] = run(16 * p, 512);
            break;
        case pattern_kind::first_lanes:
            out_host[i] = run(0, 4 * p);
            break;
        case pattern_kind::even_lanes:
            out_host[i] = run(4 * p, 124);
            break; // lane 30 is the last
        case pattern_kind::scattered:
            out_host[i] = {32, 32};
            break;
        case pattern_kind::strided: // none is left out while steps are short
            out_host[i] = {p < 8 ? 31 * p / 8 + 1 : 32, p < 32 ? 31 * p / 32 + 1 : 32};
            break;
        case pattern_kind::two_rows: {
            prediction second = run(4 * p, 64);
            // Half a line at 0, and another which may begin in its last sector.
            int same_sectors = p / 8 < 2 ? 2 - p / 8 : 0, same_lines = p < 32 ? 1 : 0;
            out_host[i] = {2 + second.sectors - same_sectors, 1 + second.lines - same_lines};
            break;
        }
        }
    }
}
