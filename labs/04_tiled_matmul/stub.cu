// Lab 04, tiled matrix multiplication: the file to edit. What each function
// must do: lab.hpp. The lesson: handouts/04_tiled_matmul.md. Stuck at a TODO:
// ./workbook hint 04.
//
// You write the launches, too, each followed by check_launch("NAME"): up to
// TODO 4 with one thread per element of the result, and one block per square of
// them.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int tile = 16; // elements on a side of a tile

static int blocks_for(int n) { return (n + tile - 1) / tile; }

// width is a multiple of 32, so no tile hangs over an edge.
static __global__ void multiply_square_tiles(const float *M, const float *N, float *P, int width)
{
    // TODO 1 (matmul_square): This thread's element of P must be the sum over
    // its row of M and its column of N.
    //
    // TODO 2 (matmul_square: loads from global memory): A block must load each
    // element that it needs once, a tile of each matrix at a time, into shared
    // memory: complete before any thread reads it, unchanged until all have.
}

void matmul_square(const float *M, const float *N, float *P, int width)
{
    // TODO 1 (matmul_square): multiply_square_tiles must run once per element
    // of P. An empty matrix has no launch.
    //
    // TODO 5 (matmul_square: speed): matmul must do the work, so that its
    // kernel serves here, too.
}

// Any size: tiles hang over the right and the lower edge of every matrix.
static __global__ void multiply_tiles(float alpha, const float *A, const float *B, float beta,
                                      float *C, int j, int k, int l)
{
    // TODO 3 (matmul): As in TODO 2, each element of C must be its sum (alpha
    // is 1 and beta 0). The part of a tile outside its matrix must hold zeros;
    // every thread must load and wait, even one without an element of C.
    //
    // When everything else passes, all three functions can become faster.
    //
    // TODO 5 (matmul: speed): Each thread must have 8 elements of one column of
    // C, so that an element of B, once in a register, serves 8 sums.
    // TODO 5 (sgemm: speed): It is the same kernel.
    //
    // TODO 6 (matmul: speed): Each thread must have 8 x 8 elements of C, so
    // that 16 elements, once in registers, serve 64 sums. The hints say what
    // else saves time.
    // TODO 6 (sgemm: speed): It is the same kernel.
    // TODO 6 (matmul_square: speed): It is the same kernel.
}

void matmul(const float *M, const float *N, float *P, int j, int k, int l)
{
    // TODO 3 (matmul): P must be the product, computed by multiply_tiles.
}

void sgemm(float alpha, const float *A, const float *B, float beta, float *C, int j, int k, int l)
{
    // TODO 4 (sgemm): Your own design. When matmul is right, little remains to
    // be done.
}
