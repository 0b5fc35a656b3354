// Fails: matmul_square: several tiles | RACE | they are blockDim.y apart
// On gpu: may pass - blocks that overlap mostly store the same sums, and large matrices are wrong
// Each thread has eight rows, 8 apart, and the launch is that for one row each: blocks overlap.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int tile = 16, high = 8, rows = 8;

static __global__ void multiply_tiles(float alpha, const float *A, const float *B, float beta,
                                      float *C, int j, int k, int l)
{
    __shared__ float a[high * rows][tile], b[tile][tile];
    int y = threadIdx.y, x = threadIdx.x;
    int row = blockIdx.y * high * rows + y, col = blockIdx.x * tile + x;
    float sums[rows] = {};
    for (int first = 0; first < k; first += tile) {
        for (int i = y; i < high * rows; i += high) {
            const int r = blockIdx.y * high * rows + i;
            a[i][x] = r < j && first + x < k ? A[r * k + first + x] : 0;
        }
        for (int i = y; i < tile; i += high)
            b[i][x] = first + i < k && col < l ? B[(first + i) * l + col] : 0;
        __syncthreads();
        for (int i = 0; i < tile; ++i)
            for (int r = 0; r < rows; ++r) sums[r] += a[(y + r * high) % 64][i] * b[i][x];
        __syncthreads();
    }
    for (int r = 0; r < rows; ++r) {
        if (row + r * high >= j || col >= l) continue;
        float *c = &C[(row + r * high) * l + col];
        *c = beta == 0 ? alpha * sums[r] : alpha * sums[r] + beta * *c;
    }
}

static int blocks_for(int n) { return (n + tile - 1) / tile; }

void sgemm(float alpha, const float *A, const float *B, float beta, float *C, int j, int k, int l)
{
    if (j == 0 || l == 0) return;
    dim3 grid(blocks_for(l), blocks_for(j)), block(tile, tile);
    multiply_tiles<<<grid, block>>>(alpha, A, B, beta, C, j, k, l);
}

void matmul(const float *M, const float *N, float *P, int j, int k, int l)
{
    sgemm(1, M, N, 0, P, j, k, l);
}

void matmul_square(const float *M, const float *N, float *P, int width)
{
    matmul(M, N, P, width, width, width);
}
