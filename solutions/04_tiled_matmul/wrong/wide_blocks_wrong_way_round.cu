// Fails: matmul: sizes around a tile | PARTIALLY_WRITTEN | x and y of the grid changed places
// On gpu: matmul: sizes around a tile | PARTIALLY_WRITTEN | never written
// Blocks are 32 wide and 8 high; the grid has as many blocks in x as the rows need, and in y as the
// columns need.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int wide = 32, high = 8;

static __global__ void multiply(float alpha, const float *A, const float *B, float beta, float *C,
                                int j, int k, int l)
{
    int row = blockIdx.y * high + threadIdx.y, col = blockIdx.x * wide + threadIdx.x;
    if (row >= j || col >= l) return;
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += A[row * k + i] * B[i * l + col];
    float *c = &C[row * l + col];
    *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
}

void sgemm(float alpha, const float *A, const float *B, float beta, float *C, int j, int k, int l)
{
    if (j == 0 || l == 0) return;
    dim3 grid((j + high - 1) / high, (l + wide - 1) / wide), block(wide, high);
    multiply<<<grid, block>>>(alpha, A, B, beta, C, j, k, l);
}

void matmul(const float *M, const float *N, float *P, int j, int k, int l)
{
    sgemm(1, M, N, 0, P, j, k, l);
}

void matmul_square(const float *M, const float *N, float *P, int width)
{
    matmul(M, N, P, width, width, width);
}
