// Lab 03, rung 4: transposition and conversions through shared memory.
//
// New: a block loads its elements into a tile in the order of the input and stores them in the
// order of the output, so that both global accesses are coalesced; in rung 3 one of them was
// strided. Rows of the tile are padded by one float, so that a column lies in different banks
// (Ruetsch and Micikevicius, 2009).
// Unchanged: drift, distance_all, distance_some.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

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
