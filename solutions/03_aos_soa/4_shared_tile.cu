// Lab 03, rung 4: transposition and conversions through shared memory.
//
// New: a block loads its elements into a tile in the order of the input and stores them in the
// order of the output, so that both global accesses are coalesced; in rung 3 one of them was
// strided. Rows of the tile are padded by one float, so that a column lies in different banks
// (Ruetsch and Micikevicius, 2009).
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

// A particle is four float4, and begins at a multiple of 16 bytes.
constexpr int quads = fields / 4;

// All particles and few fields: columns. Few particles: structs, where x, y and z share a sector.
layout drift_layout() { return layout::soa; }
layout distance_all_layout() { return layout::soa; }
layout distance_some_layout() { return layout::aos; }

static __global__ void move_particles(float *x, const float *vx, int n, float dt)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) x[i] += vx[i] * dt;
}

// A field is an array of its own: the kernel needs two of sixteen.
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

static __global__ void measure_all(const float *particles, int n, float3 centre, float *out)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    out[i] = distance(particles[n * field_x + i], particles[n * field_y + i],
                      particles[n * field_z + i], centre);
}

void distance_all(const float *particles, int n, float3 centre, float *out)
{
    if (n == 0) return;
    measure_all<<<blocks_for(n), block_size>>>(particles, n, centre, out);
    check_launch("measure_all");
}

static __global__ void measure_some(const float4 *particles, float3 centre, const int *which, int k,
                                    float *out)
{
    int j = blockIdx.x * block_size + threadIdx.x;
    if (j >= k) return;
    float4 p = particles[quads * which[j]];
    out[j] = distance(p.x, p.y, p.z, centre);
}

void distance_some(const float *particles, int, float3 centre, const int *which, int k, float *out)
{
    if (k == 0) return;
    measure_some<<<blocks_for(k), block_size>>>(reinterpret_cast<const float4 *>(particles), centre,
                                                which, k, out);
    check_launch("measure_some");
}

// A block's particles, between rows and columns. Without the padding of one float per row, the
// lanes that access a column would find it in only two of 32 banks.
struct particle_tile {
    float rows[block_size][fields + 1];
};

// Element e of the block's particles, in the order of the structs: neighbouring lanes take
// neighbouring elements.
static __device__ int element(int k) { return k * block_size + threadIdx.x; }

static __global__ void split_particles(const float *aos, float *soa, int n)
{
    __shared__ particle_tile tile;
    int first = blockIdx.x * block_size, t = threadIdx.x, count = min(block_size, n - first);
    for (int k = 0; k < fields; ++k) {
        int e = element(k);
        if (e < fields * count) tile.rows[e / fields][e % fields] = aos[fields * first + e];
    }
    __syncthreads(); // a thread's particle was loaded by others
    if (t >= count) return;
    for (int f = 0; f < fields; ++f) soa[n * f + first + t] = tile.rows[t][f];
}

void to_soa(const float *aos, float *soa, int n)
{
    if (n == 0) return;
    split_particles<<<blocks_for(n), block_size>>>(aos, soa, n);
    check_launch("split_particles");
}

static __global__ void join_particles(const float *soa, float *aos, int n)
{
    __shared__ particle_tile tile;
    int first = blockIdx.x * block_size, t = threadIdx.x, count = min(block_size, n - first);
    if (t < count)
        for (int f = 0; f < fields; ++f) tile.rows[t][f] = soa[n * f + first + t];
    __syncthreads();
    for (int k = 0; k < fields; ++k) {
        int e = element(k);
        if (e < fields * count) aos[fields * first + e] = tile.rows[e / fields][e % fields];
    }
}

void to_aos(const float *soa, float *aos, int n)
{
    if (n == 0) return;
    join_particles<<<blocks_for(n), block_size>>>(soa, aos, n);
    check_launch("join_particles");
}

constexpr int tile = 32;

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
