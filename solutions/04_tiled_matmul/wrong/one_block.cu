// Fails: matmul: speed | TOO_SLOW | One block does nearly all
// On gpu: matmul: speed | TOO_SLOW | times
// Tiles in shared memory, 4 x 4 sums per thread, and one block that goes from tile to tile.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int tile = 64, depth = 16, block_size = 256, per_thread = 4, across = tile / per_thread;

static __device__ void multiply_tile(const float *A, const float *B, float *C, int j, int k, int l,
                                     int top, int left)
{
    __shared__ float a[depth][tile + 1], b[depth][tile];
    int x = threadIdx.x % across, y = threadIdx.x / across;
    float sums[per_thread][per_thread] = {};
    for (int k0 = 0; k0 < k; k0 += depth) {
        for (int i = threadIdx.x; i < tile * depth; i += block_size) {
            int r = top + i / depth, kr = k0 + i % depth, kc = k0 + i / tile, c = left + i % tile;
            a[i % depth][i / depth] = r < j && kr < k ? A[size_t(r) * k + kr] : 0;
            b[i / tile][i % tile] = kc < k && c < l ? B[size_t(kc) * l + c] : 0;
        }
        __syncthreads();
        for (int d = 0; d < depth; ++d)
#pragma unroll
            for (int p = 0; p < per_thread; ++p)
#pragma unroll
                for (int q = 0; q < per_thread; ++q)
                    sums[p][q] += a[d][y + across * p] * b[d][x + across * q];
        __syncthreads();
    }
#pragma unroll
    for (int p = 0; p < per_thread; ++p)
#pragma unroll
        for (int q = 0; q < per_thread; ++q) {
            int r = top + y + across * p, c = left + x + across * q;
            if (r < j && c < l) C[size_t(r) * l + c] = sums[p][q];
        }
}

static __global__ void multiply_all(const float *A, const float *B, float *C, int j, int k, int l)
{
    for (int top = 0; top < j; top += tile)
        for (int left = 0; left < l; left += tile) multiply_tile(A, B, C, j, k, l, top, left);
}

void matmul(const float *A, const float *B, float *C, int j, int k, int l)
{
    if (j && l) multiply_all<<<1, block_size>>>(A, B, C, j, k, l);
}

void matmul_square(const float *M, const float *N, float *P, int width)
{
    matmul(M, N, P, width, width, width);
}

// Not begun.
void sgemm(float, const float *, const float *, float, float *, int, int, int) {}
