// Lab 05, rung 3: a block brings its pixels and a halo around them to shared memory once.
//
// New: the table `tile`. What lies beyond the image is decided there, once per pixel, and not once
// per term.
// Unchanged: convolve_separable, sample_bilinear.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>

#include <vector>

constexpr int max_filter_side = 33; // elements per side of a filter
constexpr int block_cols = 32, block_rows = 8;

static __constant__ float taps[max_filter_side * max_filter_side];

static int pieces(int n, int size) { return (n + size - 1) / size; }

// The pixel in row r and column c, which may lie beyond the image.
template <bool clamped>
static __device__ float pixel(const float *image, int rows, int cols, int r, int c)
{
    if (clamped) return image[min(max(r, 0), rows - 1) * cols + min(max(c, 0), cols - 1)];
    return r >= 0 && r < rows && c >= 0 && c < cols ? image[r * cols + c] : 0;
}

template <int R, bool clamped>
static __global__ void filter_tile(const float *image, float *out, int rows, int cols)
{
    constexpr int d = 2 * R + 1, tall = block_rows + 2 * R, wide = block_cols + 2 * R;
    __shared__ float tile[tall][wide];
    int left = blockIdx.x * block_cols, top = blockIdx.y * block_rows;
    for (int y = threadIdx.y; y < tall; y += block_rows)
        for (int x = threadIdx.x; x < wide; x += block_cols)
            tile[y][x] = pixel<clamped>(image, rows, cols, top + y - R, left + x - R);
    __syncthreads(); // all threads come here, also those without a pixel of their own
    float sum = 0;
#pragma unroll(R <= 8 ? d : 1)
    for (int y = 0; y < d; ++y)
#pragma unroll
        for (int x = 0; x < d; ++x) sum += taps[y * d + x] * tile[threadIdx.y + y][threadIdx.x + x];
    int col = left + threadIdx.x, row = top + threadIdx.y;
    if (row < rows && col < cols) out[row * cols + col] = sum;
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
    dim3 grid(pieces(cols, block_cols), pieces(rows, block_rows));
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
