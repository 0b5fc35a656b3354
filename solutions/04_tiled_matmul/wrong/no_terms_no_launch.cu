// Fails: sgemm: no rows, no columns, no terms | NOT_WRITTEN | C becomes beta times C
// Without terms the product is 0, but C must still be scaled by beta.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int tile = 16;

static __global__ void multiply_tiles(float alpha, const float *A, const float *B, float beta,
                                      float *C, int j, int k, int l)
{
    __shared__ float a[tile][tile], b[tile][tile];
    int y = threadIdx.y, x = threadIdx.x;
    int row = blockIdx.y * tile + y, col = blockIdx.x * tile + x;
    float sum = 0;
    for (int first = 0; first < k; first += tile) {
        a[y][x] = row < j && first + x < k ? A[row * k + first + x] : 0;
        b[y][x] = first + y < k && col < l ? B[(first + y) * l + col] : 0;
        __syncthreads();
        for (int i = 0; i < tile; ++i) sum += a[y][i] * b[i][x];
        __syncthreads();
    }
    if (row >= j || col >= l) return;
    float *c = &C[row * l + col];
    *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
}

static int blocks_for(int n) { return (n + tile - 1) / tile; }

void sgemm(float alpha, const float *A, const float *B, float beta, float *C, int j, int k, int l)
{
    if (j == 0 || k == 0 || l == 0) return;
    dim3 grid(blocks_for(l), blocks_for(j)), block(tile, tile);
    multiply_tiles<<<grid, block>>>(alpha, A, B, beta, C, j, k, l);
}

void matmul(const float *M, const float *N, float *P, int j, int k, int l)
{
    if (j == 0 || l == 0) return;
    dim3 grid(blocks_for(l), blocks_for(j)), block(tile, tile);
    multiply_tiles<<<grid, block>>>(1, M, N, 0, P, j, k, l);
}

void matmul_square(const float *M, const float *N, float *P, int width)
{
    matmul(M, N, P, width, width, width);
}
