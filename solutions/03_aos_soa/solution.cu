// Lab 03, worked: columns where all particles are looked at, structs where few are, and tiles
// without bank conflicts between the two.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, per_thread = 4, elements_per_block = block_size * per_thread;

static int blocks_for(int n) { return (n + elements_per_block - 1) / elements_per_block; }

// All particles, and few fields: nothing else should move. Some particles, and three fields of
// each: in a struct they share a sector.
layout drift_layout() { return layout::soa; }
layout distance_all_layout() { return layout::soa; }
layout distance_some_layout() { return layout::aos; }

// This thread's first element; the others are block_size, 2 * block_size, ... further on.
static __device__ int first_element() { return blockIdx.x * elements_per_block + threadIdx.x; }

static __global__ void __launch_bounds__(block_size)
    move_particles(float *x, const float *vx, int n, float dt)
{
    float here[per_thread], v[per_thread];
    int first = first_element();
    // All loads before the first store: the compiler cannot know that a store does not change what
    // the next load reads.
    for (int k = 0; k < per_thread; ++k) {
        int i = first + k * block_size;
        here[k] = i < n ? x[i] : 0;
        v[k] = i < n ? vx[i] : 0;
    }
    for (int k = 0; k < per_thread; ++k) {
        int i = first + k * block_size;
        if (i < n) x[i] = here[k] + v[k] * dt;
    }
}

void drift(float *particles, int n, float dt)
{
    if (n == 0) return;
    move_particles<<<blocks_for(n), block_size>>>(particles + n * field_x, particles + n * field_vx,
                                                  n, dt);
    check_launch("move_particles");
}

static __device__ float distance(float x, float y, float z, float3 centre)
{
    float dx = x - centre.x, dy = y - centre.y, dz = z - centre.z;
    return sqrtf(dx * dx + dy * dy + dz * dz);
}

static __global__ void __launch_bounds__(block_size)
    measure_all(const float *particles, int n, float3 centre, float *out)
{
    float x[per_thread], y[per_thread], z[per_thread];
    int first = first_element();
    for (int k = 0; k < per_thread; ++k) {
        int i = first + k * block_size;
        x[k] = i < n ? particles[n * field_x + i] : 0;
        y[k] = i < n ? particles[n * field_y + i] : 0;
        z[k] = i < n ? particles[n * field_z + i] : 0;
    }
    for (int k = 0; k < per_thread; ++k) {
        int i = first + k * block_size;
        if (i < n) out[i] = distance(x[k], y[k], z[k], centre);
    }
}

void distance_all(const float *particles, int n, float3 centre, float *out)
{
    if (n == 0) return;
    measure_all<<<blocks_for(n), block_size>>>(particles, n, centre, out);
    check_launch("measure_all");
}

// A particle is four float4; x, y and z are in its first.
constexpr int quads = fields / 4;

static __global__ void __launch_bounds__(block_size)
    measure_some(const float4 *particles, float3 centre, const int *which, int k, float *out)
{
    int first = first_element(), i[per_thread];
    float4 at[per_thread];
    for (int m = 0; m < per_thread; ++m) {
        int j = first + m * block_size;
        i[m] = j < k ? which[j] : -1;
    }
    // Each thread has several loads in flight.
    for (int m = 0; m < per_thread; ++m) at[m] = i[m] >= 0 ? particles[quads * i[m]] : float4{};
    for (int m = 0; m < per_thread; ++m)
        if (i[m] >= 0) out[first + m * block_size] = distance(at[m].x, at[m].y, at[m].z, centre);
}

void distance_some(const float *particles, int, float3 centre, const int *which, int k, float *out)
{
    if (k == 0) return;
    measure_some<<<blocks_for(k), block_size>>>(reinterpret_cast<const float4 *>(particles), centre,
                                                which, k, out);
    check_launch("measure_some");
}

// The conversions: a warp takes 32 particles through a tile of its own, so that no warp waits for
// another.
constexpr int warps = block_size / 32;

static int blocks_of_tiles(int n) { return (n + block_size - 1) / block_size; }

// The index in a tile of field f of particle p. In plain rows of 16, a column would lie in two
// banks. Exchanging the places within each row by p / 2 spreads it over 32, and keeps a row's
// floats apart, too.
static __device__ int place(int p, int f) { return fields * p + (f ^ p / 2); }

static __global__ void __launch_bounds__(block_size)
    split_particles(const float4 *aos, float *soa, int n)
{
    __shared__ float tiles[warps][32 * fields];
    float *tile = tiles[threadIdx.x / 32];
    int lane = threadIdx.x % 32, first = blockIdx.x * block_size + threadIdx.x - lane;
    float4 q[quads];
    // Row r of the tile's float4: 8 particles, side by side.
    for (int r = 0; r < quads; ++r) {
        int p = 8 * r + lane / quads;
        q[r] = first + p < n ? aos[quads * first + 32 * r + lane] : float4{};
    }
    for (int r = 0; r < quads; ++r) {
        int p = 8 * r + lane / quads, f = lane % quads * 4;
        tile[place(p, f)] = q[r].x;
        tile[place(p, f + 1)] = q[r].y;
        tile[place(p, f + 2)] = q[r].z;
        tile[place(p, f + 3)] = q[r].w;
    }
    __syncwarp();
    if (first + lane >= n) return;
    for (int f = 0; f < fields; ++f) soa[n * f + first + lane] = tile[place(lane, f)];
}

void to_soa(const float *aos, float *soa, int n)
{
    if (n == 0) return;
    split_particles<<<blocks_of_tiles(n), block_size>>>(reinterpret_cast<const float4 *>(aos), soa,
                                                        n);
    check_launch("split_particles");
}

static __global__ void __launch_bounds__(block_size)
    join_particles(const float *soa, float4 *aos, int n)
{
    __shared__ float tiles[warps][32 * fields];
    float *tile = tiles[threadIdx.x / 32], x[fields];
    int lane = threadIdx.x % 32, first = blockIdx.x * block_size + threadIdx.x - lane;
    for (int f = 0; f < fields; ++f) x[f] = first + lane < n ? soa[n * f + first + lane] : 0;
    for (int f = 0; f < fields; ++f) tile[place(lane, f)] = x[f];
    __syncwarp();
    for (int r = 0; r < quads; ++r) {
        int p = 8 * r + lane / quads, f = lane % quads * 4;
        if (first + p < n)
            aos[quads * first + 32 * r + lane] = {tile[place(p, f)], tile[place(p, f + 1)],
                                                  tile[place(p, f + 2)], tile[place(p, f + 3)]};
    }
}

void to_aos(const float *soa, float *aos, int n)
{
    if (n == 0) return;
    join_particles<<<blocks_of_tiles(n), block_size>>>(soa, reinterpret_cast<float4 *>(aos), n);
    check_launch("join_particles");
}

constexpr int tile = 64; // a thread has 16 loads in flight; with a tile of 32 it has 4

static __global__ void __launch_bounds__(block_size)
    transpose_tiles(const float *in, float *out, int rows, int cols, int tiles_across)
{
    __shared__ float turned[tile][tile + 1]; // the padding spreads a column over 32 banks
    int row = blockIdx.x / tiles_across * tile, col = blockIdx.x % tiles_across * tile;
    int x = threadIdx.x % tile, y = threadIdx.x / tile;
#pragma unroll
    for (int k = y; k < tile; k += block_size / tile)
        if (row + k < rows && col + x < cols)
            turned[k][x] = in[static_cast<size_t>(row + k) * cols + col + x];
    __syncthreads();
#pragma unroll
    for (int k = y; k < tile; k += block_size / tile)
        if (col + k < cols && row + x < rows)
            out[static_cast<size_t>(col + k) * rows + row + x] = turned[x][k];
}

void transpose(const float *in, float *out, int rows, int cols)
{
    if (rows == 0 || cols == 0) return;
    int across = (cols + tile - 1) / tile, down = (rows + tile - 1) / tile;
    transpose_tiles<<<across * down, block_size>>>(in, out, rows, cols, across);
    check_launch("transpose_tiles");
}
