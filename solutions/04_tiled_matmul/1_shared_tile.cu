// Lab 04, rung 1: a block loads the elements that its threads share into shared memory, one square
// tile at a time.
//
// New: m and n in multiply_square_tiles. With them come the two barriers of a step. Matrices with
// edges come with the next rung.
// Unchanged: matmul, sgemm.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int tile = 16; // a block has tile x tile threads and computes as many elements

static __global__ void multiply_square_tiles(const float *M, const float *N, float *P, int width)
{
    __shared__ float m[tile][tile], n[tile][tile];
    int y = threadIdx.y, x = threadIdx.x;
    int row = blockIdx.y * tile + y, col = blockIdx.x * tile + x;
    float sum = 0;
    for (int first = 0; first < width; first += tile) {
        // Each thread loads one element of each tile, which 16 threads need.
        m[y][x] = M[row * width + first + x];
        n[y][x] = N[(first + y) * width + col];
        __syncthreads(); // no thread multiplies before the tiles are complete
        for (int i = 0; i < tile; ++i) sum += m[y][i] * n[i][x];
        __syncthreads(); // no thread loads the next tiles before all have multiplied these
    }
    P[row * width + col] = sum;
}

void matmul_square(const float *M, const float *N, float *P, int width)
{
    if (width == 0) return;
    // width is a multiple of 32, so no tile hangs over the edge.
    dim3 grid(width / tile, width / tile), block(tile, tile);
    multiply_square_tiles<<<grid, block>>>(M, N, P, width);
    check_launch("multiply_square_tiles");
}
