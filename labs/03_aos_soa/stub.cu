// Lab 03, layouts: the file to edit. What each function must do: lab.hpp. The
// lesson: handouts/03_aos_soa.md. Stuck at a TODO: ./workbook hint 03.
//
// Every launch below is in place, with one thread per particle, and rounds its
// grid up. Change launches where your idea needs it.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

layout drift_layout()
{
    layout mine = layout::aos;
    // TODO 1 (drift): `mine` is the layout in which a step moves fewer bytes.
    return mine;
}

static __global__ void move_particles(float *particles, int n, float dt)
{
    // TODO 1 (drift): The x of each particle, in the layout you chose, is
    // greater by its vx * dt than before.
}

void drift(float *particles, int n, float dt)
{
    if (n == 0) return;
    move_particles<<<blocks_for(n), block_size>>>(particles, n, dt);
    check_launch("move_particles");
}

layout distance_all_layout()
{
    layout mine = layout::aos;
    // TODO 2 (distance_all): `mine` is the layout in which the distances of all
    // particles move fewer bytes.
    return mine;
}

// The distance of (x, y, z) from `centre`.
static __device__ float distance(float x, float y, float z, float3 centre)
{
    float dx = x - centre.x, dy = y - centre.y, dz = z - centre.z;
    return sqrtf(dx * dx + dy * dy + dz * dz);
}

static __global__ void measure_all(const float *particles, int n, float3 centre, float *out)
{
    // TODO 2 (distance_all): out[i] is the distance of particle i, in the
    // layout you chose.
}

void distance_all(const float *particles, int n, float3 centre, float *out)
{
    if (n == 0) return;
    measure_all<<<blocks_for(n), block_size>>>(particles, n, centre, out);
    check_launch("measure_all");
}

layout distance_some_layout()
{
    layout mine = layout::soa;
    // TODO 3 (distance_some): `mine` is the layout in which the distance of one
    // particle, far from all others, moves fewer bytes.
    return mine;
}

// One thread per element of `which`.
static __global__ void measure_some(const float *particles, int n, float3 centre, const int *which,
                                    int k, float *out)
{
    // TODO 3 (distance_some): out[j] is the distance of particle which[j], in
    // the layout you chose.
}

void distance_some(const float *particles, int n, float3 centre, const int *which, int k,
                   float *out)
{
    if (k == 0) return;
    measure_some<<<blocks_for(k), block_size>>>(particles, n, centre, which, k, out);
    check_launch("measure_some");
}

constexpr int tile_size = 32;

// One tile of 32 x 32 per block; its eight warps have four rows each.
static __global__ void transpose_tiles(const float *in, float *out, int rows, int cols,
                                       int tiles_across)
{
    // Where the tile begins in `in`, and this thread's place in the tile.
    int row = blockIdx.x / tiles_across * tile_size;
    int col = blockIdx.x % tiles_across * tile_size;
    int x = threadIdx.x % tile_size, y = threadIdx.x / tile_size;
    // TODO 4 (transpose): The columns of the tile are rows of `out`. By way of
    // shared memory, neighbouring lanes load neighbours of `in` and store
    // neighbours of `out`; the lanes of a warp access different banks.
}

void transpose(const float *in, float *out, int rows, int cols)
{
    if (rows == 0 || cols == 0) return;
    int across = (cols + tile_size - 1) / tile_size, down = (rows + tile_size - 1) / tile_size;
    transpose_tiles<<<across * down, block_size>>>(in, out, rows, cols, across);
    check_launch("transpose_tiles");
}

// A thread handles different floats before and after the barrier. A block owns
// block_size particles, fewer at the end.
static __global__ void split_particles(const float *aos, float *soa, int n)
{
    // TODO 5 (to_soa): `soa` holds the block's particles. By way of shared
    // memory, neighbouring lanes load neighbours of `aos` and store neighbours
    // of `soa`; at most two lanes of a warp access the same bank.
}

void to_soa(const float *aos, float *soa, int n)
{
    if (n == 0) return;
    split_particles<<<blocks_for(n), block_size>>>(aos, soa, n);
    check_launch("split_particles");
}

static __global__ void join_particles(const float *soa, float *aos, int n)
{
    // TODO 6 (to_aos): `aos` holds the block's particles. Lanes and banks are
    // as in TODO 5.
}

void to_aos(const float *soa, float *aos, int n)
{
    if (n == 0) return;
    join_particles<<<blocks_for(n), block_size>>>(soa, aos, n);
    check_launch("join_particles");
}
