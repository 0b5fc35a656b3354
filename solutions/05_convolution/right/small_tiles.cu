// Right: one pass over tiles of 32 x 8, so small that rows above and below a tile, which are
// filtered along the rows twice or more often, double the multiplications: 70 a pixel.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

constexpr int largest = 33; // a filter's elements a side
constexpr int block_cols = 32, block_rows = 8;

static __constant__ float taps[largest * largest];

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
    int own = 2 * radius + 1, first = R - radius;
    std::vector<float> framed(d * d);
    for (int y = 0; y < own; ++y)
        std::copy_n(filter_host + y * own, own, &framed[(y + first) * d + first]);
    check(cudaMemcpyToSymbolAsync(taps, framed.data(), sizeof(float) * d * d),
          "copying the filter");
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

static __constant__ float row_taps[largest], column_taps[largest];

// The tile and its halo are filtered along the rows into shared memory, and from there down the
// columns. Threads beyond the edge compute, too.
template <int R>
static __global__ void filter_twice(const float *image, float *out, int rows, int cols)
{
    constexpr int d = 2 * R + 1, tall = block_rows + 2 * R, wide = block_cols + 2 * R;
    __shared__ float tile[tall][wide], filtered[tall][block_cols];
    int left = blockIdx.x * block_cols, top = blockIdx.y * block_rows;
    for (int y = threadIdx.y; y < tall; y += block_rows)
        for (int x = threadIdx.x; x < wide; x += block_cols)
            tile[y][x] = pixel<false>(image, rows, cols, top + y - R, left + x - R);
    __syncthreads();
    for (int y = threadIdx.y; y < tall; y += block_rows) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k < d; ++k) sum += row_taps[k] * tile[y][threadIdx.x + k];
        filtered[y][threadIdx.x] = sum;
    }
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = 0; k < d; ++k) sum += column_taps[k] * filtered[threadIdx.y + k][threadIdx.x];
    int col = left + threadIdx.x, row = top + threadIdx.y;
    if (row < rows && col < cols) out[row * cols + col] = sum;
}

template <int R> static void launch_twice(const float *image, float *out, int rows, int cols,
                                          const float *row_filter_host,
                                          const float *column_filter_host, int radius)
{
    float framed_row[2 * R + 1] = {}, framed_column[2 * R + 1] = {};
    std::copy_n(row_filter_host, 2 * radius + 1, framed_row + R - radius);
    std::copy_n(column_filter_host, 2 * radius + 1, framed_column + R - radius);
    check(cudaMemcpyToSymbol(row_taps, framed_row, sizeof framed_row), "copying the row filter");
    check(cudaMemcpyToSymbol(column_taps, framed_column, sizeof framed_column),
          "copying the column filter");
    dim3 grid(pieces(cols, block_cols), pieces(rows, block_rows));
    filter_twice<R><<<grid, dim3(block_cols, block_rows)>>>(image, out, rows, cols);
    check_launch("filter_twice");
}

size_t convolve_separable_scratch(int, int, int) { return 0; }

void convolve_separable(const float *image, float *out, int rows, int cols,
                        const float *row_filter_host, const float *column_filter_host, int radius,
                        void *)
{
    if (rows == 0 || cols == 0) return;
    auto launch_it = radius <= 8 ? launch_twice<8> : launch_twice<16>;
    launch_it(image, out, rows, cols, row_filter_host, column_filter_host, radius);
}

constexpr int samplers = 256; // threads per block

static __global__ void sample(cudaTextureObject_t texture, const float2 *at, float *out, int n)
{
    int i = blockIdx.x * samplers + threadIdx.x;
    // To the texture unit the centre of the first texel is at 0.5.
    if (i < n) out[i] = tex2D<float>(texture, at[i].x + 0.5f, at[i].y + 0.5f);
}

void sample_bilinear(const unsigned char *image, int width, int height, const float2 *at,
                     float *out, int n)
{
    if (n == 0) return;
    cudaChannelFormatDesc texel = cudaCreateChannelDesc<unsigned char>();
    cudaResourceDesc memory{};
    memory.resType = cudaResourceTypeArray;
    check(cudaMallocArray(&memory.res.array.array, &texel, width, height), "cudaMallocArray");
    check(cudaMemcpy2DToArrayAsync(memory.res.array.array, 0, 0, image, width, width, height,
                                   cudaMemcpyDeviceToDevice),
          "cudaMemcpy2DToArrayAsync");
    cudaTextureDesc how{};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = cudaReadModeNormalizedFloat;
    cudaTextureObject_t texture = 0;
    check(cudaCreateTextureObject(&texture, &memory, &how, nullptr), "cudaCreateTextureObject");
    sample<<<(n - 1) / samplers + 1, samplers>>>(texture, at, out, n);
    check(cudaDeviceSynchronize(), "sample"); // the texture must outlive it
    check(cudaDestroyTextureObject(texture), "cudaDestroyTextureObject");
    check(cudaFreeArray(memory.res.array.array), "cudaFreeArray");
}
