// Fails: matmul_square: one tile | PARTIALLY_WRITTEN | 256 threads in 1 block ran, and as many elements were written
// On gpu: matmul_square: one tile | PARTIALLY_WRITTEN | never written
// The launch has one block, whatever the size of the matrix.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int tile = 16;

static __global__ void multiply_square_tiles(const float *M, const float *N, float *P, int width)
{
    __shared__ float m[tile][tile], n[tile][tile];
    int y = threadIdx.y, x = threadIdx.x;
    int row = blockIdx.y * tile + y, col = blockIdx.x * tile + x;
    float sum = 0;
    for (int first = 0; first < width; first += tile) {
        m[y][x] = M[row * width + first + x];
        n[y][x] = N[(first + y) * width + col];
        __syncthreads();
        for (int i = 0; i < tile; ++i) sum += m[y][i] * n[i][x];
        __syncthreads();
    }
    P[row * width + col] = sum;
}

void matmul_square(const float *M, const float *N, float *P, int width)
{
    if (width == 0) return;
    dim3 grid(1), block(tile, tile);
    multiply_square_tiles<<<grid, block>>>(M, N, P, width);
}

// Not begun.
void matmul(const float *, const float *, float *, int, int, int) {}
void sgemm(float, const float *, const float *, float, float *, int, int, int) {}
