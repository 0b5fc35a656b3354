// Fails: matmul_square: several tiles | WRONG_ANSWER | worked out once that must be worked out anew
// As many blocks as the device runs, each of them tile after tile: its sum goes on from the last.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int side = 32;

static __global__ void multiply_tiles(const float *M, const float *N, float *P, int width)
{
    __shared__ float m[side][side], n[side][side];
    int across = width / side, x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    for (int tile = blockIdx.x; tile < across * across; tile += gridDim.x) {
        int row = tile / across * side + y, col = tile % across * side + x;
        for (int first = 0; first < width; first += side) {
            m[y][x] = M[row * width + first + x];
            n[y][x] = N[(first + y) * width + col];
            __syncthreads();
            for (int i = 0; i < side; ++i) sum += m[y][i] * n[i][x];
            __syncthreads();
        }
        P[row * width + col] = sum;
    }
}

void matmul_square(const float *M, const float *N, float *P, int width)
{
    int multiprocessors, blocks;
    check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0), "asking");
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, multiply_tiles, side * side, 0),
          "asking");
    if (width == 0) return;
    multiply_tiles<<<blocks * multiprocessors, dim3(side, side)>>>(M, N, P, width);
    check_launch("multiply_tiles");
}

// Not begun.
void matmul(const float *, const float *, float *, int, int, int) {}
void sgemm(float, const float *, const float *, float, float *, int, int, int) {}
