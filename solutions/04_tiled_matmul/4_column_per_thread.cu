// Lab 04, rung 4: a thread computes eight elements of a column, so that a float of B, once in a
// register, serves eight sums.
//
// New: sums[own] in place of one sum. With it a thread loads one element and computes others, so
// that its number is split in two ways, and tiles are no longer square: 64 x 8 of A, 8 x 64 of B.
// There is one buffer, as in rung 2, so the gain comes from the sums alone.
// Unchanged: matmul_square, matmul.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int tile = 64; // rows and columns of C that a block computes
constexpr int depth = 8; // terms of every sum that one step loads
constexpr int own = 8;   // elements of a column that a thread computes
constexpr int block_size = tile * tile / own;
static_assert(block_size == tile * depth, "each thread brings one element of A and one of B");

static int blocks_for(int n) { return (n + tile - 1) / tile; }

static __global__ void __launch_bounds__(block_size)
    multiply_tiles(float alpha, const float *A, const float *B, float beta, float *C, int j, int k,
                   int l)
{
    __shared__ float a[tile][depth], b[depth][tile];
    // Two views of the same threads: the elements each loads, and those it computes.
    int a_row = threadIdx.x / depth, a_term = threadIdx.x % depth;
    int b_term = threadIdx.x / tile, b_col = threadIdx.x % tile;
    int own_row = threadIdx.x / tile * own, own_col = threadIdx.x % tile;
    int top = blockIdx.y * tile, left = blockIdx.x * tile;

    float sums[own] = {};
    for (int first = 0; first < k; first += depth) {
        bool a_there = top + a_row < j && first + a_term < k;
        bool b_there = first + b_term < k && left + b_col < l;
        a[a_row][a_term] = a_there ? A[(top + a_row) * k + first + a_term] : 0;
        b[b_term][b_col] = b_there ? B[(first + b_term) * l + left + b_col] : 0;
        __syncthreads();
        for (int i = 0; i < depth; ++i) {
            // Nine floats from shared memory for eight multiply-adds, where there were sixteen.
            float from_b = b[i][own_col];
            for (int n = 0; n < own; ++n) sums[n] += a[own_row + n][i] * from_b;
        }
        __syncthreads();
    }
    for (int n = 0; n < own; ++n) {
        int row = top + own_row + n, col = left + own_col;
        if (row >= j || col >= l) continue;
        float *c = &C[row * l + col];
        *c = beta == 0 ? alpha * sums[n] : alpha * sums[n] + beta * *c;
    }
}

void sgemm(float alpha, const float *A, const float *B, float beta, float *C, int j, int k, int l)
{
    if (j == 0 || l == 0) return;
    dim3 grid(blocks_for(l), blocks_for(j));
    multiply_tiles<<<grid, block_size>>>(alpha, A, B, beta, C, j, k, l);
    check_launch("multiply_tiles");
}
