// Right: the conversions transpose 16 x 16 floats in registers by four rounds of shuffles, without
// shared memory; inline PTX loads and stores.
#include "../check.hpp"
#include "lab.hpp"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

constexpr int threads = 128, several = 4;

static int blocks_for(int n, int a_block) { return (n + a_block - 1) / a_block; }

__device__ static float load(const float *from)
{
    float v;
    asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(from));
    return v;
}

__device__ static void store(float *to, float v)
{
    asm volatile("st.global.f32 [%0], %1;" ::"l"(to), "f"(v) : "memory");
}

layout drift_layout() { return layout::soa; }

static __global__ void move_particles(float *x, const float *vx, int n, float dt)
{
    int first = blockIdx.x * threads * several + threadIdx.x;
    float at[several], speed[several];
#pragma unroll
    for (int s = 0; s < several; ++s) {
        int i = first + s * threads;
        if (i < n) at[s] = x[i], speed[s] = load(vx + i);
    }
#pragma unroll
    for (int s = 0; s < several; ++s) {
        int i = first + s * threads;
        if (i < n) store(x + i, at[s] + speed[s] * dt);
    }
}

void drift(float *particles, int n, float dt)
{
    if (n == 0) return;
    move_particles<<<blocks_for(n, threads * several), threads>>>(
        particles + size_t(field_x) * n, particles + size_t(field_vx) * n, n, dt);
    check_launch("move_particles");
}

layout distance_all_layout() { return layout::soa; }

__device__ static float distance(float x, float y, float z, float3 centre)
{
    float dx = x - centre.x, dy = y - centre.y, dz = z - centre.z, root;
    asm("sqrt.rn.f32 %0, %1;" : "=f"(root) : "f"(fmaf(dx, dx, fmaf(dy, dy, dz * dz))));
    return root;
}

static __global__ void measure_all(const float *particles, int n, float3 centre, float *out)
{
    int i = blockIdx.x * threads + threadIdx.x;
    if (i >= n) return;
    store(out + i, distance(load(particles + n * field_x + i), load(particles + n * field_y + i),
                            load(particles + n * field_z + i), centre));
}

void distance_all(const float *particles, int n, float3 centre, float *out)
{
    if (n == 0) return;
    measure_all<<<blocks_for(n, threads), threads>>>(particles, n, centre, out);
    check_launch("measure_all");
}

layout distance_some_layout() { return layout::aos; }

static __global__ void measure_some(const float *particles, float3 centre, const int *which, int k,
                                    float *out)
{
    int j = blockIdx.x * threads + threadIdx.x;
    if (j >= k) return;
    float4 p; // x, y, z and the radius, in one load
    asm volatile("ld.global.nc.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(p.x), "=f"(p.y), "=f"(p.z), "=f"(p.w)
                 : "l"(particles + fields * which[j]));
    store(out + j, distance(p.x, p.y, p.z, centre));
}

void distance_some(const float *particles, int, float3 centre, const int *which, int k, float *out)
{
    if (k == 0) return;
    measure_some<<<blocks_for(k, threads), threads>>>(particles, centre, which, k, out);
    check_launch("measure_some");
}

// Afterwards v[r] of lane c is what v[c] of lane r was; lanes 0 to 15 and 16 to
// 31 each for themselves. Each round swaps the off-diagonal blocks of half the
// size of those before.
__device__ static void transpose_16(float (&v)[16])
{
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int half = 8; half > 0; half /= 2)
#pragma unroll
        for (int r = 0; r < 16; ++r) {
            if (r & half) continue;
            bool low = !(lane & half);
            float theirs = __shfl_xor_sync(0xffffffff, low ? v[r + half] : v[r], half);
            if (low)
                v[r + half] = theirs;
            else
                v[r] = theirs;
        }
}

// A warp has 32 particles. Row r of its 512 floats holds particles 2 r and
// 2 r + 1; a half of the warp sees one of them. After the transposition lane c
// of half h has all fields of particle 2 c + h.
static __global__ void split_particles(const float *aos, float *soa, int n)
{
    int lane = threadIdx.x % 32, first = (blockIdx.x * threads + threadIdx.x) / 32 * 32;
    float v[16];
#pragma unroll
    for (int r = 0; r < 16; ++r)
        v[r] = first + 2 * r + lane / 16 < n ? load(aos + fields * first + 32 * r + lane) : 0;
    transpose_16(v);
    int i = first + lane % 16 * 2 + lane / 16;
    if (i >= n) return;
#pragma unroll
    for (int f = 0; f < 16; ++f) store(soa + n * f + i, v[f]);
}

void to_soa(const float *aos, float *soa, int n)
{
    if (n == 0) return;
    split_particles<<<blocks_for(n, threads), threads>>>(aos, soa, n);
    check_launch("split_particles");
}

static __global__ void join_particles(const float *soa, float *aos, int n)
{
    int lane = threadIdx.x % 32, first = (blockIdx.x * threads + threadIdx.x) / 32 * 32;
    int i = first + lane % 16 * 2 + lane / 16;
    float v[16];
#pragma unroll
    for (int f = 0; f < 16; ++f) v[f] = i < n ? load(soa + n * f + i) : 0;
    transpose_16(v);
#pragma unroll
    for (int r = 0; r < 16; ++r)
        if (first + 2 * r + lane / 16 < n) store(aos + fields * first + 32 * r + lane, v[r]);
}

void to_aos(const float *soa, float *aos, int n)
{
    if (n == 0) return;
    join_particles<<<blocks_for(n, threads), threads>>>(soa, aos, n);
    check_launch("join_particles");
}

namespace transposition {

namespace cg = cooperative_groups;

constexpr int threads = 128;

static int blocks_for(int n, int of) { return (n - 1) / of + 1; }

// Swaps the blocks of half x half across the diagonals.
template <int half, typename Warp> __device__ static void swap_across(Warp warp, float (&v)[32])
{
    bool low = !(warp.thread_rank() & half);
#pragma unroll
    for (int r = 0; r < 32; ++r) {
        if (r & half) continue;
        // A copy: the choice itself is an lvalue, of which shfl_xor would take the
        // address, and v were in local memory.
        const float mine = low ? v[r + half] : v[r], theirs = warp.shfl_xor(mine, half);
        v[r + half] = low ? theirs : v[r + half];
        v[r] = low ? v[r] : theirs;
    }
}

// One warp per tile of 32 x 32, one column per lane; five rounds of swaps across the
// diagonal leave a row a lane.
__global__ static void transpose_tiles(const float *in, float *out, int rows, int cols, int across)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int lane = warp.thread_rank(), tile = (blockIdx.x * threads + threadIdx.x) / 32;
    int row = tile / across * 32, col = tile % across * 32;
    if (row >= rows) return; // the whole warp
    float v[32];
#pragma unroll
    for (int r = 0; r < 32; ++r)
        v[r] = row + r < rows && col + lane < cols ? in[(row + r) * cols + col + lane] : 0;
    swap_across<16>(warp, v);
    swap_across<8>(warp, v);
    swap_across<4>(warp, v);
    swap_across<2>(warp, v);
    swap_across<1>(warp, v);
#pragma unroll
    for (int c = 0; c < 32; ++c)
        if (col + c < cols && row + lane < rows) out[(col + c) * rows + row + lane] = v[c];
}

} // namespace transposition

void transpose(const float *in, float *out, int rows, int cols)
{
    if (rows == 0 || cols == 0) return;
    int across = transposition::blocks_for(cols, 32),
        tiles = across * transposition::blocks_for(rows, 32);
    transposition::transpose_tiles<<<transposition::blocks_for(tiles, transposition::threads / 32),
                                     transposition::threads>>>(in, out, rows, cols, across);
    check_launch("transpose_tiles");
}
