// Right: three buffers filled by __pipeline_memcpy_async, 4 bytes at a time so that A is transposed
// on the way; dynamic shared memory.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

namespace {

constexpr int rows = 128, cols = 64, depth = 8, stages = 3, threads = 256;

struct stage {
    float a[depth][rows + 4]; // A's tile, transposed; padded for the stores
    float b[depth][cols];
};

// Copies one float when all copies of its stage are committed and waited for;
// zero where `inside` is false.
__device__ void bring(float *to, const float *from, const float *somewhere, bool inside)
{
    // zfill reads nothing, but the address must still be a good one.
    __pipeline_memcpy_async(to, inside ? from : somewhere, sizeof(float),
                            inside ? 0 : sizeof(float));
}

__device__ void fetch(stage &s, const float *A, const float *B, int row0, int col0, int k0, int j,
                      int k, int l)
{
    if (k0 < k) {
#pragma unroll
        for (int e = threadIdx.x; e < rows * depth; e += threads) {
            int r = row0 + e / depth, i = k0 + e % depth;
            bool inside = r < j && i < k;
            bring(&s.a[e % depth][e / depth], A + (inside ? r * k + i : 0), A, inside);
        }
#pragma unroll
        for (int e = threadIdx.x; e < depth * cols; e += threads) {
            int i = k0 + e / cols, c = col0 + e % cols;
            bool inside = i < k && c < l;
            bring(&s.b[e / cols][e % cols], B + (inside ? i * l + c : 0), B, inside);
        }
    }
    __pipeline_commit(); // an empty batch at the end keeps the count right
}

__global__ void __launch_bounds__(threads)
    multiply(float alpha, const float *A, const float *B, float beta, float *C, int j, int k, int l)
{
    extern __shared__ __align__(16) unsigned char memory[];
    stage *ring = reinterpret_cast<stage *>(memory);
    int row0 = blockIdx.y * rows, col0 = blockIdx.x * cols;
    int ty = threadIdx.x / 16, tx = threadIdx.x % 16;
    float sum[8][4] = {};

    for (int s = 0; s < stages - 1; ++s) fetch(ring[s], A, B, row0, col0, s * depth, j, k, l);
    int now = 0;
    for (int k0 = 0; k0 < k; k0 += depth) {
        __pipeline_wait_prior(stages - 2); // my copies of this stage have come
        __syncthreads();                   // everybody's have, and the stage before is free
        fetch(ring[(now + stages - 1) % stages], A, B, row0, col0, k0 + (stages - 1) * depth, j, k,
              l);
        const stage &s = ring[now];
#pragma unroll
        for (int i = 0; i < depth; ++i) {
            float4 a0 = *reinterpret_cast<const float4 *>(&s.a[i][8 * ty]);
            float4 a1 = *reinterpret_cast<const float4 *>(&s.a[i][8 * ty + 4]);
            float4 b4 = *reinterpret_cast<const float4 *>(&s.b[i][4 * tx]);
            float a[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
            float b[4] = {b4.x, b4.y, b4.z, b4.w};
#pragma unroll
            for (int r = 0; r < 8; ++r)
#pragma unroll
                for (int c = 0; c < 4; ++c) sum[r][c] = fmaf(a[r], b[c], sum[r][c]);
        }
        now = (now + 1) % stages;
    }
    __pipeline_wait_prior(0);

#pragma unroll
    for (int r = 0; r < 8; ++r)
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            int row = row0 + 8 * ty + r, col = col0 + 4 * tx + c;
            if (row < j && col < l) {
                float old = beta != 0 ? beta * C[row * l + col] : 0;
                C[row * l + col] = alpha * sum[r][c] + old;
            }
        }
}

} // namespace

void sgemm(float alpha, const float *A, const float *B, float beta, float *C, int j, int k, int l)
{
    if (j == 0 || l == 0) return;
    constexpr int bytes = stages * sizeof(stage);
    check(cudaFuncSetAttribute(multiply, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
          "cudaFuncSetAttribute");
    dim3 grid((l + cols - 1) / cols, (j + rows - 1) / rows);
    multiply<<<grid, threads, bytes>>>(alpha, A, B, beta, C, j, k, l);
    check_launch("multiply");
}

void matmul(const float *M, const float *N, float *P, int j, int k, int l)
{
    sgemm(1, M, N, 0, P, j, k, l);
}

void matmul_square(const float *M, const float *N, float *P, int width)
{
    sgemm(1, M, N, 0, P, width, width, width);
}
