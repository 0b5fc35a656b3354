// Lab 04, rung 6: asynchronous copies from global to shared memory, two steps ahead, that pass no
// register and fill with zeros by themselves.
#include "lab.hpp"

#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>

constexpr int tile = 128; // rows and columns of C that a block computes
constexpr int depth = 8;  // terms of every sum that one step brings
constexpr int own = 8;    // rows, and columns, of the elements that a thread computes
constexpr int block_size = tile * tile / (own * own);
constexpr int buffers = 3; // one is multiplied, two are on their way

// A stands on its side, so that the rows a thread needs are neighbours. Four floats more a row keep
// float4 aligned, and put what a warp stores there into different banks.
struct slices {
    float a[depth][tile + 4], b[depth][tile + 4];
};

static int blocks_for(int n) { return (n + tile - 1) / tile; }

static void check_launch(const char *kernel)
{
    cudaError_t error = cudaPeekAtLastError();
    if (error != cudaSuccess)
        throw std::runtime_error(std::string(kernel) + ": " + cudaGetErrorString(error));
}

// Starts to copy `width` floats, or as many zeros. Both places are multiples of the copy's size.
template <int width> static __device__ void copy(float *to, const float *from, bool there)
{
    constexpr int bytes = width * sizeof(float);
    __pipeline_memcpy_async(to, from, bytes, there ? 0 : bytes);
}

// Starts to bring the slices from term `first` on. What hangs over an edge is taken from nowhere:
// the address is that of the matrix itself, and no byte of it is read.
template <int width> static __device__ void bring(slices &s, int first, const float *A,
                                                  const float *B, int j, int k, int l)
{
    int top = blockIdx.y * tile, left = blockIdx.x * tile;
    // A changes its direction, so its floats go one by one: 4 rows of 8 terms a warp, whose places
    // in s.a are in different banks.
    for (int n = threadIdx.x; n < tile * depth; n += block_size) {
        int term = n / 4 % depth, at = n / (4 * depth) * 4 + n % 4;
        bool there = top + at < j && first + term < k;
        copy<1>(&s.a[term][at], there ? &A[(top + at) * k + first + term] : A, there);
    }
    for (int n = threadIdx.x * width; n < tile * depth; n += block_size * width) {
        int term = n / tile, at = n % tile;
        bool there = left + at < l && first + term < k;
        copy<width>(&s.b[term][at], there ? &B[(first + term) * l + left + at] : B, there);
    }
}

// Four neighbours of a slice; `from` is a multiple of 4.
static __device__ void load4(float *to, const float *from)
{
    *reinterpret_cast<float4 *>(to) = *reinterpret_cast<const float4 *>(from);
}

// Where a thread's n-th row or column is: 4 together, the next 4 half a tile further on.
static __device__ int of_thread(int thread, int n)
{
    return thread * 4 + n % 4 + n / 4 * (tile / 2);
}

static __device__ void multiply(const slices &s, int y, int x, float (&sums)[own][own])
{
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
}

template <int width> static __global__ void __launch_bounds__(block_size, 2)
    multiply_tiles(float alpha, const float *A, const float *B, float beta, float *C, int j, int k,
                   int l)
{
    __shared__ __align__(16) slices ring[buffers];
    int y = threadIdx.x / (tile / own), x = threadIdx.x % (tile / own);
    float sums[own][own] = {};
    // A commit closes a batch of copies, an empty one too; waiting counts batches.
    for (int step = 0; step < buffers - 1; ++step) {
        bring<width>(ring[step], step * depth, A, B, j, k, l);
        __pipeline_commit();
    }
    for (int step = 0; step * depth < k; ++step) {
        __pipeline_wait_prior(buffers - 2); // all batches but the last: this thread's part is there
        // Now everybody's is, and nobody reads the buffer any more that is filled next.
        __syncthreads();
        int ahead = step + buffers - 1;
        if (ahead * depth < k) bring<width>(ring[ahead % buffers], ahead * depth, A, B, j, k, l);
        __pipeline_commit();
        multiply(ring[step % buffers], y, x, sums);
    }
    int top = blockIdx.y * tile, left = blockIdx.x * tile;
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
    // 16 bytes at a time where every row of B begins at a multiple of 16.
    if (l % 4 == 0 && reinterpret_cast<std::uintptr_t>(B) % 16 == 0)
        multiply_tiles<4><<<grid, block_size>>>(alpha, A, B, beta, C, j, k, l);
    else
        multiply_tiles<1><<<grid, block_size>>>(alpha, A, B, beta, C, j, k, l);
    check_launch("multiply_tiles");
}

void matmul(const float *M, const float *N, float *P, int j, int k, int l)
{
    sgemm(1, M, N, 0, P, j, k, l);
}

void matmul_square(const float *M, const float *N, float *P, int width)
{
    matmul(M, N, P, width, width, width);
}
