// Fails: matmul_square: one tile | OUT_OF_BOUNDS | leaves threadIdx.y
// On gpu: matmul_square: one tile | PARTIALLY_WRITTEN |
// The launch gives a number of threads, where the kernel needs two dimensions.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int tile = 16;

static __global__ void multiply_square_tiles(const float *M, const float *N, float *P, int width)
{
    int row = blockIdx.y * tile + threadIdx.y, col = blockIdx.x * tile + threadIdx.x;
    float sum = 0;
    for (int i = 0; i < width; ++i) sum += M[row * width + i] * N[i * width + col];
    P[row * width + col] = sum;
}

void matmul_square(const float *M, const float *N, float *P, int width)
{
    if (width == 0) return;
    dim3 grid(width / tile, width / tile), block(tile * tile);
    multiply_square_tiles<<<grid, block>>>(M, N, P, width);
}

// Not begun.
void matmul(const float *, const float *, float *, int, int, int) {}
void sgemm(float, const float *, const float *, float, float *, int, int, int) {}
