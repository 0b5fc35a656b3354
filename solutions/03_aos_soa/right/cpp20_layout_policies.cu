// Right: C++20: the layout is a policy type that a concept checks; conversions go through float4
// and a tile that stands on its side.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda/std/array>
#include <cuda/std/cmath>
#include <cuda_runtime.h>

#include <concepts>

namespace {

struct soa_policy {
    static constexpr layout value = layout::soa;
    template <field f> static __device__ int index(int i, int n) { return n * f + i; }
};
struct aos_policy {
    static constexpr layout value = layout::aos;
    template <field f> static __device__ int index(int i, int) { return fields * i + f; }
};
template <typename P>
concept layout_policy = requires
{
    {
        P::value
        } -> std::convertible_to<layout>;
};

template <layout_policy P, typename T> struct view {
    T *first;
    int n;
    template <field f> __device__ T &get(int i) const { return first[P::template index<f>(i, n)]; }
};

// What each function wants, in one place.
using for_drift = soa_policy;
using for_all = soa_policy;
using for_some = aos_policy;

template <std::integral I> constexpr I pieces(I n, I of) { return (n + of - 1) / of; }

constexpr int threads = 256;

template <layout_policy P>
__device__ float distance(view<P, const float> particles, int i, float3 c)
{
    return cuda::std::sqrt([](auto... d) {
        return ((d * d) + ...);
    }(particles.template get<field_x>(i) - c.x, particles.template get<field_y>(i) - c.y,
                           particles.template get<field_z>(i) - c.z));
}

template <layout_policy P, int several> __global__ void __launch_bounds__(threads)
    move_particles(view<P, float> particles, float dt)
{
    cuda::std::array<float, several> moved;
    const int first = blockIdx.x * threads * several + threadIdx.x;
#pragma unroll
    for (int s = 0; s < several; ++s)
        if (int i = first + s * threads; i < particles.n)
            moved[s] =
                particles.template get<field_x>(i) + particles.template get<field_vx>(i) * dt;
#pragma unroll
    for (int s = 0; s < several; ++s)
        if (int i = first + s * threads; i < particles.n)
            particles.template get<field_x>(i) = moved[s];
}

template <layout_policy P> __global__ void __launch_bounds__(threads)
    measure(view<P, const float> particles, float3 centre, const int *which, int k, float *out)
{
    int j = blockIdx.x * threads + threadIdx.x;
    if (j < k) out[j] = distance(particles, which ? which[j] : j, centre);
}

constexpr int a_tile = 128; // particles
// One row per field. Two floats longer: lanes that store a quarter of a particle
// each, eight particles in all, meet 32 banks.
using tile = float[fields][a_tile + 2];

enum class direction { split, join };

// Particles between float4 in aos and the columns of a tile.
template <direction d>
__device__ void aos_side(tile &t,
                         std::conditional_t<d == direction::split, const float4, float4> *aos,
                         int particles)
{
#pragma unroll
    for (int e = threadIdx.x; e < a_tile * 4; e += threads) {
        int p = e / 4, f = e % 4 * 4;
        if (p >= particles) break;
        if constexpr (d == direction::split) {
            float4 v = aos[e];
            t[f][p] = v.x, t[f + 1][p] = v.y, t[f + 2][p] = v.z, t[f + 3][p] = v.w;
        } else {
            aos[e] = {.x = t[f][p], .y = t[f + 1][p], .z = t[f + 2][p], .w = t[f + 3][p]};
        }
    }
}

template <direction d, typename Aos, typename Soa> __global__ void __launch_bounds__(threads)
    convert(Aos *aos, Soa *soa, int n)
{
    __shared__ tile t;
    const int first = blockIdx.x * a_tile, particles = min(a_tile, n - first);
    const int p = threadIdx.x % a_tile, top = threadIdx.x / a_tile; // two fields at a time
    if constexpr (d == direction::split) {
        aos_side<d>(t, aos + size_t(first) * 4, particles);
        __syncthreads();
    }
#pragma unroll
    for (int f = top; f < fields; f += threads / a_tile)
        if (p < particles) {
            if constexpr (d == direction::split)
                soa[f * n + first + p] = t[f][p];
            else
                t[f][p] = soa[f * n + first + p];
        }
    if constexpr (d == direction::join) {
        __syncthreads();
        aos_side<d>(t, aos + size_t(first) * 4, particles);
    }
}

} // namespace

layout drift_layout() { return for_drift::value; }
layout distance_all_layout() { return for_all::value; }
layout distance_some_layout() { return for_some::value; }

void drift(float *particles, int n, float dt)
{
    if (n == 0) return;
    move_particles<for_drift, 4>
        <<<pieces(n, 4 * threads), threads>>>({.first = particles, .n = n}, dt);
    check_launch("move_particles");
}

void distance_all(const float *particles, int n, float3 centre, float *out)
{
    if (n == 0) return;
    measure<for_all>
        <<<pieces(n, threads), threads>>>({.first = particles, .n = n}, centre, nullptr, n, out);
    check_launch("measure");
}

void distance_some(const float *particles, int n, float3 centre, const int *which, int k,
                   float *out)
{
    if (k == 0) return;
    measure<for_some>
        <<<pieces(k, threads), threads>>>({.first = particles, .n = n}, centre, which, k, out);
    check_launch("measure");
}

void to_soa(const float *aos, float *soa, int n)
{
    if (n == 0) return;
    convert<direction::split>
        <<<pieces(n, a_tile), threads>>>(reinterpret_cast<const float4 *>(aos), soa, n);
    check_launch("convert");
}

void to_aos(const float *soa, float *aos, int n)
{
    if (n == 0) return;
    convert<direction::join>
        <<<pieces(n, a_tile), threads>>>(reinterpret_cast<float4 *>(aos), soa, n);
    check_launch("convert");
}

namespace transposition {

constexpr int threads = 256;

// Tiles of 64 rows x 32 columns: a thread has eight elements under way.
template <int tile_rows, int tile_cols> __global__ void __launch_bounds__(threads)
    transpose_tiles(const float *in, float *out, int rows, int cols, int across)
{
    __shared__ float tile[tile_rows][tile_cols + 1];
    int row = blockIdx.x / across * tile_rows, col = blockIdx.x % across * tile_cols;
#pragma unroll
    for (int e = threadIdx.x; e < tile_rows * tile_cols; e += threads) {
        int r = e / tile_cols, c = e % tile_cols;
        if (row + r < rows && col + c < cols) tile[r][c] = in[(row + r) * cols + col + c];
    }
    __syncthreads();
#pragma unroll
    for (int e = threadIdx.x; e < tile_rows * tile_cols; e += threads) {
        int r = e % tile_rows, c = e / tile_rows;
        if (row + r < rows && col + c < cols) out[(col + c) * rows + row + r] = tile[r][c];
    }
}

} // namespace transposition

void transpose(const float *in, float *out, int rows, int cols)
{
    if (rows == 0 || cols == 0) return;
    int across = (cols - 1) / 32 + 1, down = (rows - 1) / 64 + 1;
    transposition::transpose_tiles<64, 32>
        <<<across * down, transposition::threads>>>(in, out, rows, cols, across);
    check_launch("transpose_tiles");
}
