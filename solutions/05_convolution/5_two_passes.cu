// Lab 05, rung 5: a filter that is a product in two passes, along the rows and then down the
// columns: 34 multiply-adds per pixel in place of 289, at radius 8.
//
// New: filter_rows and filter_columns, with the image between them in scratch.
// Unchanged: convolve, convolve_clamped, sample_bilinear.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>

constexpr int max_filter_side = 33; // elements per side of a filter
constexpr int block_cols = 32, block_rows = 8;
constexpr int pixels_per_thread = 8; // below each other
constexpr int tile_rows = block_rows * pixels_per_thread;

static int pieces(int n, int size) { return (n + size - 1) / size; }

// The pixel in row r and column c, which may lie beyond the image.
static __device__ float pixel(const float *image, int rows, int cols, int r, int c)
{
    return r >= 0 && r < rows && c >= 0 && c < cols ? image[r * cols + c] : 0;
}

static __constant__ float row_taps[max_filter_side], column_taps[max_filter_side];

// Each pass has a halo at two sides only.
template <int R>
static __global__ void filter_rows(const float *image, float *between, int rows, int cols)
{
    constexpr int wide = block_cols * pixels_per_thread + 2 * R;
    __shared__ float tile[block_rows][wide];
    int left = blockIdx.x * block_cols * pixels_per_thread;
    int row = blockIdx.y * block_rows + threadIdx.y;
    for (int x = threadIdx.x; x < wide; x += block_cols)
        tile[threadIdx.y][x] = pixel(image, rows, cols, row, left + x - R);
    __syncthreads();
    // A thread's pixels lie block_cols apart, so that lanes have neighbours: no bank is asked
    // twice.
#pragma unroll
    for (int k = 0; k < pixels_per_thread; ++k) {
        int mine = k * block_cols + threadIdx.x;
        float sum = 0;
#pragma unroll
        for (int x = 0; x <= 2 * R; ++x) sum += row_taps[x] * tile[threadIdx.y][mine + x];
        if (row < rows && left + mine < cols) between[row * cols + left + mine] = sum;
    }
}

template <int R>
static __global__ void filter_columns(const float *between, float *out, int rows, int cols)
{
    constexpr int tall = tile_rows + 2 * R;
    __shared__ float tile[tall][block_cols];
    int col = blockIdx.x * block_cols + threadIdx.x, top = blockIdx.y * tile_rows;
    for (int y = threadIdx.y; y < tall; y += block_rows)
        tile[y][threadIdx.x] = pixel(between, rows, cols, top + y - R, col);
    __syncthreads();
    int mine = threadIdx.y * pixels_per_thread;
    float column[pixels_per_thread + 2 * R];
    for (int y = 0; y < pixels_per_thread + 2 * R; ++y) column[y] = tile[mine + y][threadIdx.x];
#pragma unroll
    for (int k = 0; k < pixels_per_thread; ++k) {
        float sum = 0;
#pragma unroll
        for (int y = 0; y <= 2 * R; ++y) sum += column_taps[y] * column[y + k];
        if (int row = top + mine + k; row < rows && col < cols) out[row * cols + col] = sum;
    }
}

template <int R> static void launch_separable(const float *image, float *out, int rows, int cols,
                                              const float *row_filter_host,
                                              const float *column_filter_host, int radius,
                                              float *between)
{
    constexpr int d = 2 * R + 1;
    float framed[2][d] = {};
    std::copy_n(row_filter_host, 2 * radius + 1, framed[0] + R - radius);
    std::copy_n(column_filter_host, 2 * radius + 1, framed[1] + R - radius);
    check(cudaMemcpyToSymbol(row_taps, framed[0], sizeof framed[0]), "copying the row filter");
    check(cudaMemcpyToSymbol(column_taps, framed[1], sizeof framed[1]),
          "copying the column filter");
    dim3 block(block_cols, block_rows);
    dim3 of_rows(pieces(cols, block_cols * pixels_per_thread), pieces(rows, block_rows));
    filter_rows<R><<<of_rows, block>>>(image, between, rows, cols);
    check_launch("filter_rows");
    dim3 of_columns(pieces(cols, block_cols), pieces(rows, tile_rows));
    filter_columns<R><<<of_columns, block>>>(between, out, rows, cols);
    check_launch("filter_columns");
}

size_t convolve_separable_scratch(int rows, int cols, int) { return sizeof(float) * rows * cols; }

void convolve_separable(const float *image, float *out, int rows, int cols,
                        const float *row_filter_host, const float *column_filter_host, int radius,
                        void *scratch)
{
    if (rows == 0 || cols == 0) return;
    auto launch_it = radius <= 4   ? launch_separable<4>
                     : radius <= 8 ? launch_separable<8>
                                   : launch_separable<16>;
    launch_it(image, out, rows, cols, row_filter_host, column_filter_host, radius,
              static_cast<float *>(scratch));
}
