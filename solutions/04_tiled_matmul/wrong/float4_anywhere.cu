// Fails: matmul_square: matrices that begin anywhere | CUDA_ERROR | isaligned
// Rows are read as float4 wherever the matrix begins.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int tile = 16;

static __global__ void multiply_square_tiles(const float *M, const float *N, float *P, int width)
{
    __shared__ float m[tile][tile], n[tile][tile];
    int y = threadIdx.y, x = threadIdx.x;
    int row = blockIdx.y * tile + y, col = blockIdx.x * tile + x;
    int t = y * tile + x;
    float sum = 0;
    for (int first = 0; first < width; first += tile) {
        if (t < tile * tile / 4) {
            int r = t / (tile / 4), q = t % (tile / 4) * 4;
            float4 from_m =
                *reinterpret_cast<const float4 *>(&M[(blockIdx.y * tile + r) * width + first + q]);
            m[r][q] = from_m.x, m[r][q + 1] = from_m.y;
            m[r][q + 2] = from_m.z, m[r][q + 3] = from_m.w;
        }
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
    dim3 grid(width / tile, width / tile), block(tile, tile);
    multiply_square_tiles<<<grid, block>>>(M, N, P, width);
}

// Not begun.
void matmul(const float *, const float *, float *, int, int, int) {}
void sgemm(float, const float *, const float *, float, float *, int, int, int) {}
