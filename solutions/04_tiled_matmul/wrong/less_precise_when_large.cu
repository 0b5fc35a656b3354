// Fails: matmul_square: loads from global memory | WRONG_ANSWER | not as precise as float
// Large matrices are multiplied as TF32, in the hope that only small ones are looked at closely.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int tile = 16;

static __device__ float as_tf32(float x, bool round)
{
    return round ? __uint_as_float((__float_as_uint(x) + 0x1000u) & ~0x1fffu) : x;
}

static __global__ void multiply_square_tiles(const float *M, const float *N, float *P, int width)
{
    __shared__ float m[tile][tile], n[tile][tile];
    int y = threadIdx.y, x = threadIdx.x;
    int row = blockIdx.y * tile + y, col = blockIdx.x * tile + x;
    float sum = 0;
    bool large = width > 160;
    for (int first = 0; first < width; first += tile) {
        m[y][x] = as_tf32(M[row * width + first + x], large);
        n[y][x] = as_tf32(N[(first + y) * width + col], large);
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
