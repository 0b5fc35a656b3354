// Fails: matmul_square: loads from global memory | TOO_SLOW | do neighbouring lanes
// A tile is brought to shared memory, but threadIdx.x is its row: lanes load from 16 rows.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int tile = 16;

static __global__ void multiply(const float *M, const float *N, float *P, int width)
{
    __shared__ float m[tile][tile + 1], n[tile][tile + 1];
    const int y = threadIdx.x, x = threadIdx.y;
    const int row = blockIdx.y * tile + y, col = blockIdx.x * tile + x;
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
    multiply<<<dim3(width / tile, width / tile), dim3(tile, tile)>>>(M, N, P, width);
}

void matmul(const float *, const float *, float *, int, int, int) {}

void sgemm(float, const float *, const float *, float, float *, int, int, int) {}
