// Fails: matmul_square: speed | TOO_SLOW | accesses per multiply-add
// On gpu: matmul_square: speed | TOO_SLOW |
// A tile in shared memory, read by atomics that add nothing: what they pass is no wavefront of a
// load.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int tile = 32;

static __global__ void multiply_square_tiles(const float *M, const float *N, float *P, int width)
{
    __shared__ int m[tile][tile + 1], n[tile][tile + 1];
    int y = threadIdx.y, x = threadIdx.x;
    int row = blockIdx.y * tile + y, col = blockIdx.x * tile + x;
    float sum = 0;
    for (int first = 0; first < width; first += tile) {
        m[y][x] = __float_as_int(M[row * width + first + x]);
        n[y][x] = __float_as_int(N[(first + y) * width + col]);
        __syncthreads();
        for (int i = 0; i < tile; ++i)
            sum += __int_as_float(atomicOr(&m[y][i], 0)) * __int_as_float(atomicOr(&n[i][x], 0));
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
