// Right: 8 x 4 sums per thread in tiles of 128 x 64; a fixed grid of 2 blocks per multiprocessor
// strides over all tiles.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>

namespace {

constexpr int tile_rows = 128, tile_cols = 64, depth = 8, threads = 256;

__host__ __device__ constexpr int ceil_div(int n, int d) { return (n + d - 1) / d; }

__global__ void __launch_bounds__(threads, 2)
    multiply(float alpha, const float *__restrict__ A, const float *__restrict__ B, float beta,
             float *__restrict__ C, int j, int k, int l)
{
    // Columns of A as rows, four floats longer: float4 reads stay aligned, and
    // the transposing stores of a warp (8 columns, 4 rows) meet 32 banks.
    __shared__ __align__(16) float a_tile[depth][tile_rows + 4];
    __shared__ __align__(16) float b_tile[depth][tile_cols];
    const int across = ceil_div(l, tile_cols), tiles = across * ceil_div(j, tile_rows);
    const int my_row = threadIdx.x / 16 * 8, my_col = threadIdx.x % 16 * 4;

    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        const int row0 = t / across * tile_rows, col0 = t % across * tile_cols;
        float sum[8][4] = {};
        for (int k0 = 0; k0 < k; k0 += depth) {
            for (int e = threadIdx.x; e < tile_rows * depth; e += threads) {
                int r = e / depth, i = e % depth;
                bool inside = row0 + r < j && k0 + i < k;
                a_tile[i][r] = inside ? A[(row0 + r) * k + k0 + i] : 0;
            }
            for (int e = threadIdx.x; e < depth * tile_cols; e += threads) {
                int i = e / tile_cols, c = e % tile_cols;
                bool inside = k0 + i < k && col0 + c < l;
                b_tile[i][c] = inside ? B[(k0 + i) * l + col0 + c] : 0;
            }
            __syncthreads();
#pragma unroll
            for (int i = 0; i < depth; ++i) {
                float4 a0 = *reinterpret_cast<const float4 *>(&a_tile[i][my_row]);
                float4 a1 = *reinterpret_cast<const float4 *>(&a_tile[i][my_row + 4]);
                float4 b4 = *reinterpret_cast<const float4 *>(&b_tile[i][my_col]);
                const float a[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
                const float b[4] = {b4.x, b4.y, b4.z, b4.w};
#pragma unroll
                for (int r = 0; r < 8; ++r)
#pragma unroll
                    for (int c = 0; c < 4; ++c) sum[r][c] += a[r] * b[c];
            }
            __syncthreads(); // also before the next tile of C is begun
        }
#pragma unroll
        for (int r = 0; r < 8; ++r)
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                int row = row0 + my_row + r, col = col0 + my_col + c;
                if (row >= j || col >= l) continue;
                float *at = &C[row * l + col];
                *at = beta == 0 ? alpha * sum[r][c] : alpha * sum[r][c] + beta * *at;
            }
    }
}

int multiprocessors()
{
    int device = 0, count = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "attribute");
    return count;
}

} // namespace

void sgemm(float alpha, const float *A, const float *B, float beta, float *C, int j, int k, int l)
{
    if (j == 0 || l == 0) return;
    static const int max_blocks = 2 * multiprocessors();
    int blocks = std::min(max_blocks, ceil_div(j, tile_rows) * ceil_div(l, tile_cols));
    multiply<<<blocks, threads>>>(alpha, A, B, beta, C, j, k, l);
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
