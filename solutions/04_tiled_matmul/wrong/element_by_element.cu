// Fails: matmul_square: one tile | WRONG_ANSWER | element by element
// What * means between arrays, not between matrices.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int tile = 16;

static __global__ void multiply_square_tiles(const float *M, const float *N, float *P, int width)
{
    int y = threadIdx.y, x = threadIdx.x;
    int row = blockIdx.y * tile + y, col = blockIdx.x * tile + x;
    P[row * width + col] = M[row * width + col] * N[row * width + col];
}

void matmul_square(const float *M, const float *N, float *P, int width)
{
    if (width == 0) return;
    dim3 grid(width / tile, width / tile), block(tile, tile);
    multiply_square_tiles<<<grid, block>>>(M, N, P, width);
}

// Not begun.
void matmul(const float *, const float *, float *, int, int, int) {}
void sgemm(float, const float *, const float *, float, float *, int, int, int) {}
