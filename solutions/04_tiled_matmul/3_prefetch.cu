// Lab 04, rung 3: while a tile is multiplied, the next one is loaded into registers.
//
// New: next_a and next_b, loaded before the multiply-adds and stored after them. With them come a
// second buffer for each tile, one barrier per step instead of two, and first tiles that are loaded
// before the loop. Tiles and multiply-adds are those of rung 2.
// Unchanged: matmul_square, matmul.
// Same points: it moves as many bytes; the latency that it hides shows only in time.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int tile = 32; // a block has tile x tile threads and computes as many elements

static int blocks_for(int n) { return (n + tile - 1) / tile; }

static __global__ void multiply_tiles(float alpha, const float *A, const float *B, float beta,
                                      float *C, int j, int k, int l)
{
    __shared__ float a[2][tile][tile], b[2][tile][tile];
    int y = threadIdx.y, x = threadIdx.x;
    int row = blockIdx.y * tile + y, col = blockIdx.x * tile + x;
    auto a_from = [=](int first) { return row < j && first + x < k ? A[row * k + first + x] : 0; };
    auto b_from = [=](int first) {
        return first + y < k && col < l ? B[(first + y) * l + col] : 0;
    };
    float sum = 0;
    a[0][y][x] = a_from(0);
    b[0][y][x] = b_from(0);
    __syncthreads();
    for (int first = 0, now = 0; first < k; first += tile, now = 1 - now) {
        // A load does not wait; only the first use of its value does, after the loop.
        float next_a = a_from(first + tile), next_b = b_from(first + tile);
        for (int i = 0; i < tile; ++i) sum += a[now][y][i] * b[now][i][x];
        a[1 - now][y][x] = next_a;
        b[1 - now][y][x] = next_b;
        // One barrier is enough with two buffers: a thread that writes a buffer has passed the
        // barrier after its last use.
        __syncthreads();
    }
    if (row >= j || col >= l) return;
    float *c = &C[row * l + col];
    *c = beta == 0 ? alpha * sum : alpha * sum + beta * *c;
}

void sgemm(float alpha, const float *A, const float *B, float beta, float *C, int j, int k, int l)
{
    if (j == 0 || l == 0) return;
    dim3 grid(blocks_for(l), blocks_for(j)), block(tile, tile);
    multiply_tiles<<<grid, block>>>(alpha, A, B, beta, C, j, k, l);
    check_launch("multiply_tiles");
}
