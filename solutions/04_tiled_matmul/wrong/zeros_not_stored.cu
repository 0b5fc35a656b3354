// Fails: matmul: a small product | UNINITIALISED | an `if` around the store
// On gpu: may pass - shared memory is often 0 at first
// Where the tile of A hangs over the edge, nothing is stored.
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
        if (row < j && first + x < k) a[y][x] = A[row * k + first + x];
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
