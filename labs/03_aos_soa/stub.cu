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
    // TODO 1 (drift): How many bytes does a step move in this layout, and how
    // many does it need? Choose by an assignment to `mine`; the kernel must go
    // with it.
    return mine;
}

static __global__ void move_particles(float *particles, int n, float dt)
{
    // TODO 2 (drift): Compute this thread's i; find x and vx of particle i in
    // the layout you chose; add vx * dt to x. Threads beyond n do nothing.
    // When everything else passes: let each thread have several particles,
    // block_size apart, and load all the fields it needs before it stores one.
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
    // TODO 3 (distance_all): Choose for this function.
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
    // TODO 4 (distance_all): Find x, y and z of particle i in the layout you
    // chose, and store its distance.
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
    // TODO 5 (distance_some): Choose for this function. Its particles are far
    // apart: which sectors does one of them touch in each layout?
    return mine;
}

// One thread per element of `which`.
static __global__ void measure_some(const float *particles, int n, float3 centre, const int *which,
                                    int k, float *out)
{
    // TODO 6 (distance_some): Find x, y and z of particle which[j] in the
    // layout you chose, and store its distance in out[j].
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
    // TODO 7 (transpose): out must hold the tile's columns as rows. Neighbouring
    // lanes must load neighbours and store neighbours, by way of a tile in
    // shared memory, no column of which may lie in a single bank.
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
    // TODO 8 (to_soa): Declare a tile in shared memory with one row per
    // particle. Load the block's floats into it in the order of `aos`, with
    // neighbouring lanes on neighbouring floats. After a barrier, let each
    // thread store the fields of one particle to `soa`, one field after the
    // other. How long must a row be, so that 32 rows begin in 32 banks?
}

void to_soa(const float *aos, float *soa, int n)
{
    if (n == 0) return;
    split_particles<<<blocks_for(n), block_size>>>(aos, soa, n);
    check_launch("split_particles");
}

static __global__ void join_particles(const float *soa, float *aos, int n)
{
    // TODO 9 (to_aos): The same in the other direction.
}

void to_aos(const float *soa, float *aos, int n)
{
    if (n == 0) return;
    join_particles<<<blocks_for(n), block_size>>>(soa, aos, n);
    check_launch("join_particles");
}
