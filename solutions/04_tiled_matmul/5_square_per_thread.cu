// Lab 04, rung 5: a thread computes 8 x 8 elements. Sixteen floats, read as four float4, serve 64
// multiply-adds.
//
// New: sums[own][own] in place of a column. With it A is transposed in shared memory and rows are
// padded, so that the sixteen floats are four float4; and a thread copies four floats of each
// matrix, all loaded before the first is stored. There is still one buffer.
// Unchanged: matmul_square, matmul.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int tile = 128; // rows and columns of C that a block computes
constexpr int depth = 8;  // terms of every sum that one step loads
constexpr int own = 8;    // rows, and columns, of the elements that a thread computes
constexpr int block_size = tile * tile / (own * own);
constexpr int brought = tile * depth / block_size; // floats of A, and of B, that a thread loads

// A is transposed, so that the rows a thread needs are neighbours. Four floats of padding per row
// keep float4 aligned and spread all stores of a warp over different banks.
struct slices {
    float a[depth][tile + 4], b[depth][tile + 4];
};

static int blocks_for(int n) { return (n + tile - 1) / tile; }

// Four neighbours of a slice; `from` is a multiple of 4.
static __device__ void load4(float *to, const float *from)
{
    *reinterpret_cast<float4 *>(to) = *reinterpret_cast<const float4 *>(from);
}

// The position of a thread's n-th row or column: 4 together, the next 4 half a tile further on. So
// the float4 that 16 threads read at once are neighbours.
static __device__ int of_thread(int thread, int n)
{
    return thread * 4 + n % 4 + n / 4 * (tile / 2);
}

static __global__ void __launch_bounds__(block_size, 2)
    multiply_tiles(float alpha, const float *A, const float *B, float beta, float *C, int j, int k,
                   int l)
{
    __shared__ __align__(16) slices s;
    int y = threadIdx.x / (tile / own), x = threadIdx.x % (tile / own);
    int top = blockIdx.y * tile, left = blockIdx.x * tile;
    float sums[own][own] = {};
    for (int first = 0; first < k; first += depth) {
        // As many loads as possible are in flight before the first is waited for.
        float from_a[brought], from_b[brought];
#pragma unroll
        for (int n = 0; n < brought; ++n) {
            int i = n * block_size + threadIdx.x;
            int row = top + i / depth, a_term = first + i % depth;
            int col = left + i % tile, b_term = first + i / tile;
            from_a[n] = row < j && a_term < k ? A[row * k + a_term] : 0;
            from_b[n] = col < l && b_term < k ? B[b_term * l + col] : 0;
        }
#pragma unroll
        for (int n = 0; n < brought; ++n) {
            int i = n * block_size + threadIdx.x;
            s.a[i % depth][i / depth] = from_a[n];
            s.b[i / tile][i % tile] = from_b[n];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < depth; ++i) {
            alignas(16) float a[own], b[own];
            for (int n = 0; n < own; n += 4) {
                load4(&a[n], &s.a[i][of_thread(y, n)]);
                load4(&b[n], &s.b[i][of_thread(x, n)]);
            }
            for (int r = 0; r < own; ++r)
                for (int c = 0; c < own; ++c) sums[r][c] += a[r] * b[c];
        }
        __syncthreads();
    }
    for (int r = 0; r < own; ++r)
        for (int c = 0; c < own; ++c) {
            int row = top + of_thread(y, r), col = left + of_thread(x, c);
            if (row >= j || col >= l) continue;
            float *to = &C[row * l + col];
            *to = beta == 0 ? alpha * sums[r][c] : alpha * sums[r][c] + beta * *to;
        }
}

void sgemm(float alpha, const float *A, const float *B, float beta, float *C, int j, int k, int l)
{
    if (j == 0 || l == 0) return;
    dim3 grid(blocks_for(l), blocks_for(j));
    multiply_tiles<<<grid, block_size>>>(alpha, A, B, beta, C, j, k, l);
    check_launch("multiply_tiles");
}
