// Fails: transpose: speed | TOO_SLOW | is local memory
// On gpu: may pass - what is moved is seen by counting
// The array on the way to the tile has no place in registers.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int pieces(int n, int of) { return (n + of - 1) / of; }

constexpr int tile = 32, a_row = tile + 1;

static __global__ void transpose_tiles(const float *in, float *out, int rows, int cols, int across)
{
    __shared__ float turned[tile][a_row];
    int row = blockIdx.x / across * tile, col = blockIdx.x % across * tile;
    int x = threadIdx.x % tile, y = threadIdx.x / tile;
    // Which element of `mine` comes first is known at run time alone.
    float mine[tile / 8];
    for (int k = 0; k < tile / 8; ++k) {
        int at = row + y + 8 * k;
        mine[(k + y) % 4] = at < rows && col + x < cols ? in[at * cols + col + x] : 0;
    }
    for (int k = 0; k < tile / 8; ++k) turned[y + 8 * k][x] = mine[(k + y) % 4];
    __syncthreads();
    for (int k = y; k < tile; k += block_size / tile)
        if (col + k < cols && row + x < rows) out[(col + k) * rows + row + x] = turned[x][k];
}

void transpose(const float *in, float *out, int rows, int cols)
{
    if (rows == 0 || cols == 0) return;
    int across = pieces(cols, tile);
    transpose_tiles<<<across * pieces(rows, tile), block_size>>>(in, out, rows, cols, across);
}

// Not begun.
layout drift_layout() { return layout::aos; }
void drift(float *, int, float) {}
layout distance_all_layout() { return layout::aos; }
void distance_all(const float *, int, float3, float *) {}
layout distance_some_layout() { return layout::aos; }
void distance_some(const float *, int, float3, const int *, int, float *) {}
void to_soa(const float *, float *, int) {}
void to_aos(const float *, float *, int) {}
