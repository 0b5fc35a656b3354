// Right: cooperative groups copy pieces to shared memory asynchronously (memcpy_async), two ahead;
// blocks take pieces in a loop.
#include "../check.hpp"
#include "lab.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace cg = cooperative_groups;

constexpr int threads = 256, piece = 2048; // results

// Where a piece of an array lies in shared memory: as far beyond a sector as in
// global memory.
struct alignas(32) buffer {
    float a[piece + 8], b[piece + 8];
};

__device__ static int beyond_sector(const float *p)
{
    return reinterpret_cast<uintptr_t>(p) % 32 / sizeof(float);
}

// The floats [first, last) of `from` to the same distance from a sector, and
// what lies before them in their first sector: so no request begins within one.
__device__ static void bring(const cg::thread_block &block, float *to, const float *from, int first,
                             int last)
{
    first = max(0, first - beyond_sector(from + first));
    cg::memcpy_async(block, to + beyond_sector(from + first), from + first,
                     sizeof(float) * (last - first));
}

__global__ static void __launch_bounds__(threads)
    add_pieces(const float *a, const float *b, float *c, int n, int pieces)
{
    __shared__ buffer buffers[2];
    cg::thread_block block = cg::this_thread_block();
    int before = beyond_sector(c);
    // A piece of c begins at a sector, but for the first.
    auto begin = [=](int p) { return max(0, p * piece - before); };
    auto end = [=](int p) { return min(n, (p + 1) * piece - before); };
    auto fetch = [&](int p, buffer &to) {
        bring(block, to.a, a, begin(p), end(p));
        bring(block, to.b, b, begin(p), end(p));
    };

    int p = blockIdx.x, now = 0;
    if (p < pieces) fetch(p, buffers[0]);
    for (; p < pieces; p += gridDim.x, now ^= 1) {
        int next = p + gridDim.x;
        if (next < pieces) {
            fetch(next, buffers[now ^ 1]);
            cg::wait_prior<2>(block); // the two copies of the next piece may go on
        } else {
            cg::wait(block);
        }
        const float *x = buffers[now].a + beyond_sector(a + begin(p));
        const float *y = buffers[now].b + beyond_sector(b + begin(p));
        for (int e = block.thread_rank(); e < end(p) - begin(p); e += threads)
            c[begin(p) + e] = x[e] + y[e];
        block.sync(); // then this buffer may be filled again
    }
}

static int multiprocessors()
{
    int device = 0, count = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "attribute");
    return count;
}

static void add(const float *a, const float *b, float *c, int n)
{
    if (n <= 0) return;
    int pieces = (n + 7 + piece - 1) / piece;
    // The last piece may be empty when c begins at a sector: drop it then.
    int before = static_cast<int>(reinterpret_cast<uintptr_t>(c) % 32 / sizeof(float));
    if ((pieces - 1) * piece - before >= n) --pieces;
    int blocks = std::min(pieces, 4 * multiprocessors());
    add_pieces<<<blocks, threads>>>(a, b, c, n, pieces);
    check_launch("add_pieces");
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

// A tile of 32 lanes takes a row's piece of up to 32 * 16 neighbours at a time.
__global__ static void __launch_bounds__(threads)
    scale(const float *in, float *out, int n, int cols, const float *factor)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int warps = gridDim.x * warp.meta_group_size();
    int mine = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    for (int first = mine * 512; first < n; first += warps * 512) {
        float x[16];
#pragma unroll
        for (int u = 0; u < 16; ++u) {
            int i = first + 32 * u + warp.thread_rank();
            x[u] = i < n ? in[i] : 0;
        }
#pragma unroll
        for (int u = 0; u < 16; ++u) {
            int i = first + 32 * u + warp.thread_rank();
            if (i < n) out[i] = x[u] * factor[i % cols];
        }
    }
}

void scale_columns(const float *in, float *out, int rows, int cols, const float *factor)
{
    int n = rows * cols;
    if (n == 0) return;
    scale<<<std::min(4 * multiprocessors(), (n + 4095) / 4096), threads>>>(in, out, n, cols,
                                                                           factor);
    check_launch("scale");
}

// Lists what lanes touch; sorts; counts what differs.
void predict(const access_pattern *patterns_host, prediction *out_host, int count)
{
    auto different = [](std::vector<int> numbers) {
        std::sort(numbers.begin(), numbers.end());
        return static_cast<int>(std::unique(numbers.begin(), numbers.end()) - numbers.begin());
    };
    for (int i = 0; i < count; ++i) {
        int p = patterns_host[i].parameter;
        std::vector<int> sectors, lines;
        for (int lane = 0; lane < 32; ++lane) {
            int byte = -1; // the first that the lane reads; its others share the sector
            switch (patterns_host[i].kind) {
            case pattern_kind::contiguous:
                byte = 4 * (p + lane);
                break;
            case pattern_kind::reversed:
                byte = 4 * (p + 31 - lane);
                break;
            case pattern_kind::shuffled:
                byte = 4 * (p + lane * 11 % 32);
                break;
            case pattern_kind::one_address:
                byte = 4 * p;
                break;
            case pattern_kind::strided:
                byte = 4 * p * lane;
                break;
            case pattern_kind::scattered:
                byte = 4 * (1024 * (lane * 7 % 32) + p);
                break;
            case pattern_kind::two_rows:
                byte = 4 * (lane / 16 * p + lane % 16);
                break;
            case pattern_kind::first_lanes:
                byte = lane < p ? 4 * lane : -1;
                break;
            case pattern_kind::even_lanes:
                byte = lane % 2 ? -1 : 4 * (p + lane);
                break;
            case pattern_kind::bytes:
                byte = p + lane;
                break;
            case pattern_kind::float2_each:
                byte = 8 * (p + lane);
                break;
            case pattern_kind::float4_each:
                byte = 16 * (p + lane);
                break;
            }
            if (byte < 0) continue;
            sectors.push_back(byte / 32);
            lines.push_back(byte / 128);
        }
        out_host[i] = {different(sectors), different(lines)};
    }
}
