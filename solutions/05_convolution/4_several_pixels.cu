// Lab 05, rung 4: a thread computes eight pixels below each other. Of a column of 16 pixels that it
// takes from shared memory it makes 72 multiply-adds, at radius 4, and not 16.
//
// New: sums[pixels_per_thread] in place of a sum; the tile is as much taller.
// Unchanged: convolve_separable, sample_bilinear.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>

#include <vector>

constexpr int max_filter_side = 33; // elements per side of a filter
constexpr int block_cols = 32, block_rows = 8;
constexpr int pixels_per_thread = 8; // below each other
constexpr int tile_rows = block_rows * pixels_per_thread;

static __constant__ float taps[max_filter_side * max_filter_side];

static int pieces(int n, int size) { return (n + size - 1) / size; }

// The pixel in row r and column c, which may lie beyond the image.
template <bool clamped>
static __device__ float pixel(const float *image, int rows, int cols, int r, int c)
{
    if (clamped) return image[min(max(r, 0), rows - 1) * cols + min(max(c, 0), cols - 1)];
    return r >= 0 && r < rows && c >= 0 && c < cols ? image[r * cols + c] : 0;
}

// A thread's pixels lie below each other: one loaded from shared memory serves up to
// `pixels_per_thread` sums.
template <int R, bool clamped>
static __global__ void filter_tile(const float *image, float *out, int rows, int cols)
{
    constexpr int d = 2 * R + 1, tall = tile_rows + 2 * R, wide = block_cols + 2 * R;
    __shared__ float tile[tall][wide];
    int left = blockIdx.x * block_cols, top = blockIdx.y * tile_rows;
    for (int y = threadIdx.y; y < tall; y += block_rows)
        for (int x = threadIdx.x; x < wide; x += block_cols)
            tile[y][x] = pixel<clamped>(image, rows, cols, top + y - R, left + x - R);
    __syncthreads();
    float sums[pixels_per_thread] = {};
    int mine = threadIdx.y * pixels_per_thread;
#pragma unroll(R <= 8 ? d : 1)
    for (int x = 0; x < d; ++x) {
        float column[pixels_per_thread + 2 * R];
        for (int y = 0; y < pixels_per_thread + 2 * R; ++y)
            column[y] = tile[mine + y][threadIdx.x + x];
#pragma unroll
        for (int y = 0; y < d; ++y)
            for (int k = 0; k < pixels_per_thread; ++k) sums[k] += taps[y * d + x] * column[y + k];
    }
    int col = left + threadIdx.x;
    for (int k = 0; k < pixels_per_thread; ++k)
        if (int row = top + mine + k; row < rows && col < cols) out[row * cols + col] = sums[k];
}

template <int R, bool clamped> static void launch(const float *image, float *out, int rows,
                                                  int cols, const float *filter_host, int radius)
{
    constexpr int d = 2 * R + 1;
    int filter_side = 2 * radius + 1, first = R - radius;
    std::vector<float> framed(d * d);
    for (int y = 0; y < filter_side; ++y)
        std::copy_n(filter_host + y * filter_side, filter_side, &framed[(y + first) * d + first]);
    check(cudaMemcpyToSymbol(taps, framed.data(), sizeof(float) * d * d), "copying the filter");
    dim3 grid(pieces(cols, block_cols), pieces(rows, tile_rows));
    filter_tile<R, clamped><<<grid, dim3(block_cols, block_rows)>>>(image, out, rows, cols);
    check_launch("filter_tile");
}

// The smallest of the radii known to the compiler that will do.
template <bool clamped> static void filter(const float *image, float *out, int rows, int cols,
                                           const float *filter_host, int radius)
{
    if (rows == 0 || cols == 0) return;
    auto launch_it = radius <= 2   ? launch<2, clamped>
                     : radius <= 4 ? launch<4, clamped>
                     : radius <= 8 ? launch<8, clamped>
                                   : launch<16, clamped>;
    launch_it(image, out, rows, cols, filter_host, radius);
}

void convolve(const float *image, float *out, int rows, int cols, const float *filter_host,
              int radius)
{
    filter<false>(image, out, rows, cols, filter_host, radius);
}

void convolve_clamped(const float *image, float *out, int rows, int cols, const float *filter_host,
                      int radius)
{
    filter<true>(image, out, rows, cols, filter_host, radius);
}
