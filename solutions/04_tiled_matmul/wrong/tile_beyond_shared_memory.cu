// Fails: matmul_square: one tile | CUDA_ERROR | 65536 bytes, and at most 49152 are allowed
// On gpu: build | BUILD_FAILED | uses too much shared data
// Tiles of 256 terms: two of them are more than a block's static shared memory.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int tile = 32, terms = 256;

static __global__ void multiply_tiles(const float *M, const float *N, float *P, int width)
{
    __shared__ float m[tile][terms], n[terms][tile];
    int y = threadIdx.y, x = threadIdx.x;
    int row = blockIdx.y * tile + y, col = blockIdx.x * tile + x;
    float sum = 0;
    for (int first = 0; first < width; first += terms) {
        for (int i = x; i < terms; i += tile)
            m[y][i] = first + i < width ? M[row * width + first + i] : 0;
        for (int i = y; i < terms; i += tile)
            n[i][x] = first + i < width ? N[(first + i) * width + col] : 0;
        __syncthreads();
        for (int i = 0; i < terms; ++i) sum += m[y][i] * n[i][x];
        __syncthreads();
    }
    P[row * width + col] = sum;
}

void matmul_square(const float *M, const float *N, float *P, int width)
{
    if (width == 0) return;
    multiply_tiles<<<dim3(width / tile, width / tile), dim3(tile, tile)>>>(M, N, P, width);
}

// Not begun.
void matmul(const float *, const float *, float *, int, int, int) {}
void sgemm(float, const float *, const float *, float, float *, int, int, int) {}
