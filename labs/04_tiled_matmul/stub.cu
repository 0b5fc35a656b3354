// Lab 04, tiled matrix multiplication: the file to edit. What each function
// must do: lab.hpp. The lesson: handouts/04_tiled_matmul.md. Stuck at a TODO:
// ./workbook hint 04.
//
// Every launch below is in place: one thread per element of the result, one
// block per square of them, the grid rounded up. Change launches where your
// idea needs it.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int tile = 16; // a block has tile x tile threads

static int blocks_for(int n) { return (n + tile - 1) / tile; }

// width is a multiple of 32, so no tile hangs over an edge.
static __global__ void multiply_square_tiles(const float *M, const float *N, float *P, int width)
{
    // TODO 1 (matmul_square): Compute this thread's row and column of P. Walk
    // along the row of M and down the column of N one tile at a time: load both
    // tiles into shared memory, one element per thread; wait for all; add this
    // tile's terms to a sum in a register; wait for all again. At the end write
    // the sum to P.
    //
    // TODO 4 (matmul_square: speed): When everything else passes: let each
    // thread compute 8 elements of one column, so that an element of N, once in
    // a register, serves 8 sums. Then let it compute a square of 8 x 8, read
    // from shared memory as float4.
}

void matmul_square(const float *M, const float *N, float *P, int width)
{
    if (width == 0) return;
    dim3 grid(blocks_for(width), blocks_for(width)), block(tile, tile);
    multiply_square_tiles<<<grid, block>>>(M, N, P, width);
    check_launch("multiply_square_tiles");
}

// Any size: tiles hang over the right and the lower edge of every matrix.
static __global__ void multiply_tiles(float alpha, const float *A, const float *B, float beta,
                                      float *C, int j, int k, int l)
{
    // TODO 2 (matmul): As in TODO 1, with rows of A that are k long and rows of
    // B and C that are l long. Put zeros into the parts of a tile that lie
    // outside its matrix. Let every thread load and wait, even if it has no
    // element of C to write. (alpha is 1 and beta 0 here.)
    //
    // TODO 3 (sgemm): Write alpha times the sum, plus beta times what C holds;
    // read C only if beta is not 0.
    //
    // TODO 5 (matmul: speed): When everything else passes: as in TODO 4, with
    // zeros beyond the edges, and no float4 where a row does not begin at a
    // multiple of 16 bytes.
    // TODO 5 (sgemm: speed): It is the same kernel.
}

void sgemm(float alpha, const float *A, const float *B, float beta, float *C, int j, int k, int l)
{
    if (j == 0 || l == 0) return;
    dim3 grid(blocks_for(l), blocks_for(j)), block(tile, tile);
    multiply_tiles<<<grid, block>>>(alpha, A, B, beta, C, j, k, l);
    check_launch("multiply_tiles");
}

void matmul(const float *M, const float *N, float *P, int j, int k, int l)
{
    sgemm(1, M, N, 0, P, j, k, l);
}
