// Right: no shared memory at all; a warp owns 16 x 128 sums, and elements of A go round by shuffles
// of a cooperative tile.
#include "../check.hpp"
#include "lab.hpp"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

constexpr int warp_rows = 16, warp_cols = 128, warps = 4, depth = 8;

// The four warps of a block lie below each other: they want the same floats of
// B at about the same time, which the L1 hands to all but the first.
template <bool square> static __global__ void __launch_bounds__(32 * warps)
    multiply(float alpha, const float *__restrict__ A, const float *__restrict__ B, float beta,
             float *__restrict__ C, int j, int k, int l)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int lane = warp.thread_rank();
    const int row0 = (blockIdx.y * warps + warp.meta_group_rank()) * warp_rows;
    const int col0 = blockIdx.x * warp_cols;
    if (row0 >= j) return; // whole warps leave, and nobody waits for them

    float sum[warp_rows][4] = {};
    for (int k0 = 0; k0 < k; k0 += depth) {
        // Lane 8 q + i holds A[row0 + 4 g + q][k0 + i] in a[g].
        float a[warp_rows / 4];
#pragma unroll
        for (int g = 0; g < warp_rows / 4; ++g) {
            int r = row0 + 4 * g + lane / depth, i = k0 + lane % depth;
            a[g] = square || (r < j && i < k) ? __ldg(&A[min(r, j - 1) * k + i]) : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < depth; ++i) {
            float b[4];
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                int col = col0 + 32 * c + lane;
                b[c] = k0 + i < k && col < l ? __ldg(&B[(k0 + i) * l + col]) : 0.0f;
            }
#pragma unroll
            for (int r = 0; r < warp_rows; ++r) {
                float of_row = warp.shfl(a[r / 4], r % 4 * depth + i);
#pragma unroll
                for (int c = 0; c < 4; ++c) sum[r][c] += of_row * b[c];
            }
        }
    }
#pragma unroll
    for (int r = 0; r < warp_rows; ++r)
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            int row = row0 + r, col = col0 + 32 * c + lane;
            if (row >= j || col >= l) continue;
            float result = alpha * sum[r][c];
            if (beta != 0) result += beta * C[row * l + col];
            C[row * l + col] = result;
        }
}

static dim3 grid_for(int j, int l)
{
    constexpr int block_rows = warps * warp_rows;
    return dim3((l + warp_cols - 1) / warp_cols, (j + block_rows - 1) / block_rows);
}

void matmul_square(const float *M, const float *N, float *P, int width)
{
    if (width == 0) return;
    // A multiple of 32 needs no guard along k and none along the rows of a warp.
    multiply<true><<<grid_for(width, width), 32 * warps>>>(1, M, N, 0, P, width, width, width);
    check_launch("multiply");
}

void sgemm(float alpha, const float *A, const float *B, float beta, float *C, int j, int k, int l)
{
    if (j == 0 || l == 0) return;
    multiply<false><<<grid_for(j, l), 32 * warps>>>(alpha, A, B, beta, C, j, k, l);
    check_launch("multiply");
}

void matmul(const float *M, const float *N, float *P, int j, int k, int l)
{
    sgemm(1, M, N, 0, P, j, k, l);
}
