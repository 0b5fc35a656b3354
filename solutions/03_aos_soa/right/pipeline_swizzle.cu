// Right: 2 blocks per multiprocessor stride over tiles, fetched one ahead through cuda::pipeline;
// rows of four float4 whose places are swizzled.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda/pipeline>
#include <cuda_runtime.h>

#include <algorithm>

constexpr int threads = 256;

static int fixed_grid(int n)
{
    int device, sms;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device), "attribute");
    return std::min(2 * sms, (n + threads - 1) / threads);
}

layout drift_layout() { return layout::soa; }
layout distance_all_layout() { return layout::soa; }
layout distance_some_layout() { return layout::aos; }

static __global__ void __launch_bounds__(threads)
    move_particles(float *__restrict__ x, const float *__restrict__ vx, int n, float dt)
{
#pragma unroll 4
    for (int i = blockIdx.x * threads + threadIdx.x; i < n; i += gridDim.x * threads)
        x[i] += vx[i] * dt;
}

void drift(float *particles, int n, float dt)
{
    if (n == 0) return;
    move_particles<<<fixed_grid(n), threads>>>(particles + field_x * n, particles + field_vx * n, n,
                                               dt);
    check_launch("move_particles");
}

static __device__ float distance(float x, float y, float z, float3 centre)
{
    return norm3df(x - centre.x, y - centre.y, z - centre.z);
}

static __global__ void __launch_bounds__(threads)
    measure_all(const float *__restrict__ particles, int n, float3 centre, float *__restrict__ out)
{
#pragma unroll 4
    for (int i = blockIdx.x * threads + threadIdx.x; i < n; i += gridDim.x * threads)
        out[i] = distance(particles[field_x * n + i], particles[field_y * n + i],
                          particles[field_z * n + i], centre);
}

void distance_all(const float *particles, int n, float3 centre, float *out)
{
    if (n == 0) return;
    measure_all<<<fixed_grid(n), threads>>>(particles, n, centre, out);
    check_launch("measure_all");
}

static __global__ void __launch_bounds__(threads)
    measure_some(const float4 *__restrict__ quarters, float3 centre, const int *__restrict__ which,
                 int k, float *__restrict__ out)
{
    for (int j = blockIdx.x * threads + threadIdx.x; j < k; j += gridDim.x * threads) {
        float4 p = quarters[which[j] * 4]; // x, y, z are in the first of four
        out[j] = distance(p.x, p.y, p.z, centre);
    }
}

void distance_some(const float *particles, int, float3 centre, const int *which, int k, float *out)
{
    if (k == 0) return;
    measure_some<<<fixed_grid(k), threads>>>(reinterpret_cast<const float4 *>(particles), centre,
                                             which, k, out);
    check_launch("measure_some");
}

// Quarter q of particle p lies at place q ^ (p / 2 % 4) of row p: then eight
// lanes that read theirs meet all banks, and so do those that go along rows.
using tile = float4[threads][4];
__device__ static float4 &at(tile &t, int p, int q) { return t[p][q ^ (p / 2 % 4)]; }

static __global__ void __launch_bounds__(threads)
    split_particles(const float4 *__restrict__ aos, float *__restrict__ soa, int n)
{
    extern __shared__ float4 memory[];
    tile *tiles = reinterpret_cast<tile *>(memory); // two
    auto pipe = cuda::make_pipeline();
    auto fetch = [&](int first, tile &to) {
        pipe.producer_acquire();
        for (int e = threadIdx.x; e < min(threads, n - first) * 4; e += threads)
            cuda::memcpy_async(&at(to, e / 4, e % 4), aos + size_t(first) * 4 + e,
                               cuda::aligned_size_t<16>(16), pipe);
        pipe.producer_commit();
    };
    int first = blockIdx.x * threads, stride = gridDim.x * threads;
    fetch(first, tiles[0]); // the grid has no block without a tile
    for (int now = 0; first < n; first += stride, now ^= 1) {
        fetch(first + stride, tiles[now ^ 1]); // nothing, beyond the end
        cuda::pipeline_consumer_wait_prior<1>(pipe);
        __syncthreads();
        if (int i = first + threadIdx.x; i < n) {
#pragma unroll
            for (int q = 0; q < 4; ++q) {
                float4 four = at(tiles[now], threadIdx.x, q);
                soa[(4 * q + 0) * n + i] = four.x;
                soa[(4 * q + 1) * n + i] = four.y;
                soa[(4 * q + 2) * n + i] = four.z;
                soa[(4 * q + 3) * n + i] = four.w;
            }
        }
        pipe.consumer_release();
        __syncthreads(); // the next turn fills this tile again
    }
    pipe.quit();
}

void to_soa(const float *aos, float *soa, int n)
{
    if (n == 0) return;
    split_particles<<<fixed_grid(n), threads, 2 * sizeof(tile)>>>(
        reinterpret_cast<const float4 *>(aos), soa, n);
    check_launch("split_particles");
}

static __global__ void __launch_bounds__(threads)
    join_particles(const float *__restrict__ soa, float4 *__restrict__ aos, int n)
{
    __shared__ tile t;
    for (int first = blockIdx.x * threads; first < n; first += gridDim.x * threads) {
        if (int i = first + threadIdx.x; i < n) {
#pragma unroll
            for (int q = 0; q < 4; ++q)
                at(t, threadIdx.x, q) =
                    make_float4(soa[4 * q * n + i], soa[(4 * q + 1) * n + i],
                                soa[(4 * q + 2) * n + i], soa[(4 * q + 3) * n + i]);
        }
        __syncthreads();
        for (int e = threadIdx.x; e < min(threads, n - first) * 4; e += threads)
            aos[size_t(first) * 4 + e] = at(t, e / 4, e % 4);
        __syncthreads();
    }
}

void to_aos(const float *soa, float *aos, int n)
{
    if (n == 0) return;
    join_particles<<<fixed_grid(n), threads>>>(soa, reinterpret_cast<float4 *>(aos), n);
    check_launch("join_particles");
}

namespace transposition {

constexpr int threads = 256;

// Element (r, c) of a tile lies at column r ^ c: rows and columns meet 32 banks.
static __global__ void __launch_bounds__(threads)
    transpose_tiles(const float *in, float *out, int rows, int cols)
{
    __shared__ float tile[32][32];
    int across = (cols - 1) / 32 + 1, tiles = across * ((rows - 1) / 32 + 1);
    int x = threadIdx.x % 32, y = threadIdx.x / 32;
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        int row = t / across * 32, col = t % across * 32;
        for (int r = y; r < 32; r += 8)
            if (row + r < rows && col + x < cols) tile[r][x ^ r] = in[(row + r) * cols + col + x];
        __syncthreads();
        for (int c = y; c < 32; c += 8)
            if (col + c < cols && row + x < rows) out[(col + c) * rows + row + x] = tile[x][c ^ x];
        __syncthreads();
    }
}

} // namespace transposition

void transpose(const float *in, float *out, int rows, int cols)
{
    if (rows == 0 || cols == 0) return;
    transposition::transpose_tiles<<<4 * fixed_grid(1 << 30), transposition::threads>>>(in, out,
                                                                                        rows, cols);
    check_launch("transpose_tiles");
}
