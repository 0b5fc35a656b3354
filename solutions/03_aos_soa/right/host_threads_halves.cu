// Right: two host threads, each with its stream, do a half each; 3-D blocks; float4 in drift where
// both fields lie alike.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <cstdint>
#include <exception>
#include <thread>

layout drift_layout() { return layout::soa; }
layout distance_all_layout() { return layout::soa; }
layout distance_some_layout() { return layout::aos; }

// Calls work(from, to, stream) for both halves of [0, n), by two threads. The
// streams are blocking ones: they wait for what the default stream has to do.
template <typename F> static void in_halves(int n, F work)
{
    int device = 0, middle = (n / 2 + 255) / 256 * 256;
    check(cudaGetDevice(&device), "cudaGetDevice");
    if (middle > n) middle = n;
    std::exception_ptr failed[2];
    auto half = [&](int h) {
        try {
            int from = h ? middle : 0, to = h ? n : middle;
            if (from == to) return;
            cudaStream_t stream = nullptr;
            check(cudaSetDevice(device), "cudaSetDevice");
            check(cudaStreamCreate(&stream), "cudaStreamCreate");
            work(from, to, stream);
            check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
            check(cudaStreamDestroy(stream), "cudaStreamDestroy");
        } catch (...) {
            failed[h] = std::current_exception();
        }
    };
    {
        std::jthread first(half, 0), second(half, 1); // joined here
    }
    for (auto &f : failed)
        if (f) std::rethrow_exception(f);
}

constexpr int block_size = 256;
static int blocks_for(int n) { return (n + block_size - 1) / block_size; }

// x += vx * dt for the particles [from, to): float4 where both fields allow it.
static __global__ void move_particles(float *__restrict__ x, const float *__restrict__ vx, int from,
                                      int to, float dt)
{
    int i = from + (blockIdx.x * block_size + threadIdx.x) * 4;
    // Where x and vx lie alike, all begin at the multiple of 16 before x[from].
    bool alike = (reinterpret_cast<uintptr_t>(x) ^ reinterpret_cast<uintptr_t>(vx)) % 16 == 0;
    i -= alike ? reinterpret_cast<uintptr_t>(x + from) / sizeof(float) % 4 : 0;
    if (alike && i >= from && i + 4 <= to) {
        float4 at = *reinterpret_cast<float4 *>(x + i);
        float4 v = *reinterpret_cast<const float4 *>(vx + i);
        at.x += v.x * dt, at.y += v.y * dt, at.z += v.z * dt, at.w += v.w * dt;
        *reinterpret_cast<float4 *>(x + i) = at;
        return;
    }
    if (alike) {
        for (int k = i; k < i + 4; ++k)
            if (k >= from && k < to) x[k] += vx[k] * dt;
        return;
    }
    // Else the block's four times 256, neighbours by neighbouring lanes.
    i = from + blockIdx.x * block_size * 4 + threadIdx.x;
#pragma unroll
    for (int s = 0; s < 4; ++s)
        if (i + s * block_size < to) x[i + s * block_size] += vx[i + s * block_size] * dt;
}

void drift(float *particles, int n, float dt)
{
    in_halves(n, [=](int from, int to, cudaStream_t stream) {
        // 3: as many floats may lie before the first in its float4
        int threads = (to - from + 3 + 3) / 4;
        move_particles<<<blocks_for(threads), block_size, 0, stream>>>(
            particles, particles + field_vx * n, from, to, dt);
        check_launch("move_particles");
    });
}

static __device__ float distance(float x, float y, float z, float3 centre)
{
    return hypotf(hypotf(x - centre.x, y - centre.y), z - centre.z);
}

static __global__ void measure_all(const float *particles, int n, int from, int to, float3 centre,
                                   float *out)
{
    int i = from + blockIdx.x * block_size + threadIdx.x;
    if (i < to) out[i] = distance(particles[i], particles[n + i], particles[2 * n + i], centre);
}

void distance_all(const float *particles, int n, float3 centre, float *out)
{
    in_halves(n, [=](int from, int to, cudaStream_t stream) {
        measure_all<<<blocks_for(to - from), block_size, 0, stream>>>(particles, n, from, to,
                                                                      centre, out);
        check_launch("measure_all");
    });
}

static __global__ void measure_some(const particle *particles, float3 centre, const int *which,
                                    int from, int to, float *out)
{
    int j = from + blockIdx.x * block_size + threadIdx.x;
    if (j >= to) return;
    const particle &p = particles[which[j]];
    out[j] = distance(p.x, p.y, p.z, centre);
}

void distance_some(const float *particles, int, float3 centre, const int *which, int k, float *out)
{
    auto structs = reinterpret_cast<const particle *>(particles);
    in_halves(k, [=](int from, int to, cudaStream_t stream) {
        measure_some<<<blocks_for(to - from), block_size, 0, stream>>>(structs, centre, which, from,
                                                                       to, out);
        check_launch("measure_some");
    });
}

// Blocks of 16 x 2 x 8: x a field or a half of 32 particles, y the other half,
// z a warp. Field f of particle p lies at column f ^ (p / 2 % 16): no bank twice.
constexpr dim3 cube{16, 2, 8};
using tile = float[32 * cube.z][fields];
static __device__ float &at(tile &t, int p, int f) { return t[p][f ^ (p / 2 % 16)]; }

template <bool split>
static __global__ void convert(const float *from, float *to, int n, int begin, int end)
{
    __shared__ tile t;
    int first = begin + blockIdx.x * 32 * cube.z;
    int mine = threadIdx.z * 32 + threadIdx.y * 16 + threadIdx.x;  // as owner of a particle
    int row = threadIdx.z * 2 + threadIdx.y, column = threadIdx.x; // as one along a row
    for (int pass = 0; pass < 2; ++pass) {
        if ((pass == 0) == split) { // structs: 16 rows of all 256 at a time
#pragma unroll
            for (int p = row; p < 32 * cube.z; p += 2 * cube.z) {
                if (first + p >= end) break;
                int global = (first + p) * fields + column;
                if (split)
                    at(t, p, column) = from[global];
                else
                    to[global] = at(t, p, column);
            }
        } else if (first + mine < end) { // columns
#pragma unroll
            for (int f = 0; f < fields; ++f) {
                int global = f * n + first + mine;
                if (split)
                    to[global] = at(t, mine, f);
                else
                    at(t, mine, f) = from[global];
            }
        }
        __syncthreads();
    }
}

template <bool split> static void convert_all(const float *from, float *to, int n)
{
    in_halves(n, [=](int begin, int end, cudaStream_t stream) {
        convert<split><<<blocks_for(end - begin), cube, 0, stream>>>(from, to, n, begin, end);
        check_launch("convert");
    });
}

void to_soa(const float *aos, float *soa, int n) { convert_all<true>(aos, soa, n); }
void to_aos(const float *soa, float *aos, int n) { convert_all<false>(soa, aos, n); }

namespace transposition {

constexpr int threads = 160; // five warps

__device__ static unsigned in_shared(const void *at)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

// Tiles of 32 x 64: a warp copies half rows asynchronously, and stores columns of
// 32 rows.
constexpr int tile_rows = 32, tile_cols = 64;
__global__ static void transpose_tiles(const float *in, float *out, int rows, int cols, int across)
{
    __shared__ float tile[tile_rows][tile_cols + 1]; // 65 is odd: a column is in 32 banks
    int row = blockIdx.x / across * tile_rows, col = blockIdx.x % across * tile_cols;
    for (int e = threadIdx.x; e < tile_rows * tile_cols; e += threads) {
        int r = e / tile_cols, c = e % tile_cols;
        if (row + r < rows && col + c < cols)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(in_shared(&tile[r][c])),
                         "l"(in + (row + r) * cols + col + c)
                         : "memory");
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    asm volatile("bar.sync 0;" ::: "memory");
    int x = threadIdx.x % 32;
    if (row + x >= rows) return;
    for (int c = threadIdx.x / 32; c < tile_cols && col + c < cols; c += threads / 32)
        out[(col + c) * rows + row + x] = tile[x][c];
}

} // namespace transposition

void transpose(const float *in, float *out, int rows, int cols)
{
    if (rows == 0 || cols == 0) return;
    int across = (cols - 1) / transposition::tile_cols + 1,
        down = (rows - 1) / transposition::tile_rows + 1;
    transposition::transpose_tiles<<<across * down, transposition::threads>>>(in, out, rows, cols,
                                                                              across);
    check_launch("transpose_tiles");
}
