// Fails: matmul_square: one tile | OUT_OF_BOUNDS | both the row and the column
// On gpu: matmul_square: one tile | OUT_OF_BOUNDS |
// A block has 64 columns, a matrix of odd tiles ends in its middle, and only the row is compared.
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>

constexpr int block_cols = 64, block_rows = 8;

static __global__ void multiply(const float *M, const float *N, float *P, int width)
{
    const int row = blockIdx.y * block_rows + threadIdx.y;
    const int col = blockIdx.x * block_cols + threadIdx.x;
    if (row >= width) return;
    float sum = 0;
    for (int i = 0; i < width; ++i) sum += M[row * width + i] * N[i * width + min(col, width - 1)];
    P[row * width + col] = sum;
}

void matmul_square(const float *M, const float *N, float *P, int width)
{
    if (width == 0) return;
    const dim3 grid((width + block_cols - 1) / block_cols, width / block_rows);
    multiply<<<grid, dim3(block_cols, block_rows)>>>(M, N, P, width);
}

void matmul(const float *, const float *, float *, int, int, int) {}

void sgemm(float, const float *, const float *, float, float *, int, int, int) {}
