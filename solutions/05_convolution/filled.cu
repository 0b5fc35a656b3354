// Lab 05: the stub with lines added and none changed.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#ifndef DONE
#define DONE 12 // the TODOs that are done; `check --todos` sets it
#endif

constexpr int max_radius = 16, max_length = 2 * max_radius + 1;
constexpr int block_cols = 32, block_rows = 8; // threads of a block

// Constant memory: kernels read it, the host writes it before the launch.
static __constant__ float taps[max_length * max_length];

// Returns the pixel in row r and column c, also for places beyond the image.
struct zeros_beyond {
    const float *image;
    int rows, cols;
    __device__ float operator()(int r, int c) const
    {
        float pixel = 0;
        // TODO 1 (convolve): `pixel` is the image's, where there is one.
        if (r >= 0 && r < rows && c >= 0 && c < cols) pixel = image[r * cols + c];
        return pixel;
    }
};
struct edges_beyond {
    const float *image;
    int rows, cols;
    __device__ float operator()(int r, int c) const
    {
        float pixel = 0;
        // TODO 4 (convolve_clamped): `pixel` is the nearest one of the image.
        pixel = image[min(max(r, 0), rows - 1) * cols + min(max(c, 0), cols - 1)];
        return pixel;
    }
};

template <class P>
static __global__ void filter_pixels(P pixel, float *out, int rows, int cols, int radius)
{
    // TODO 2 (convolve): This thread's pixel of `out`, if there is one, is the sum
    // of the filter's elements times the pixels under them.
    int row = blockIdx.y * block_rows + threadIdx.y, col = blockIdx.x * block_cols + threadIdx.x;
    if (row >= rows || col >= cols) return;
    int d = 2 * radius + 1;
    float sum = 0;
    for (int y = 0; y < d; ++y)
        for (int x = 0; x < d; ++x)
            sum += taps[y * d + x] * pixel(row + y - radius, col + x - radius);
    out[row * cols + col] = sum;
}

// TODO 5 (convolve: speed, 9 x 9): a thread has one pixel, from TODO 6 on several.
constexpr int own = DONE < 6 ? 1 : 8, tile_rows = block_rows * own;
constexpr int tall = tile_rows + 2 * max_radius, wide = block_cols + 2 * max_radius;

#if DONE < 7
template <class P>
#else
// TODO 7 (convolve: speed, 9 x 9): the radius, or 0 if only the host knows it.
template <int known, class P>
#endif
static __global__ void filter_tiles(P pixel, float *out, int rows, int cols, int radius)
{
    // TODO 5 (convolve: speed, 9 x 9): `out` is as before. The block has taken each
    // pixel that it needs from the image once, those of the halo too.
    //
    // TODO 6 (convolve: speed, 9 x 9): A thread has several pixels, and a value that
    // it has loaded, a pixel or an element of the filter, serves several sums.
    // TODO 6 (convolve_clamped: speed, 9 x 9): It is the same kernel.
    // TODO 7 (convolve: speed, 9 x 9)
#if DONE >= 7
    if (known > 0) radius = known;
#endif
    // TODO 5 (convolve: speed, 9 x 9)
    __shared__ float tile[tall][wide];
    int d = 2 * radius + 1, left = blockIdx.x * block_cols, top = blockIdx.y * tile_rows;
    for (int y = threadIdx.y; y < tile_rows + 2 * radius; y += block_rows)
        for (int x = threadIdx.x; x < block_cols + 2 * radius; x += block_cols)
            tile[y][x] = pixel(top + y - radius, left + x - radius);
    __syncthreads();
    int first = threadIdx.y * own; // row of the tile
    float sums[own] = {};
    for (int x = 0; x < d; ++x) {
        float window[own]; // of a column: the pixels that one element of the filter lies on
        for (int k = 1; k < own; ++k) window[k] = tile[first + k - 1][threadIdx.x + x];
        for (int y = 0; y < d; ++y) {
            for (int k = 1; k < own; ++k) window[k - 1] = window[k];
            window[own - 1] = tile[first + y + own - 1][threadIdx.x + x];
            for (int k = 0; k < own; ++k) sums[k] += taps[y * d + x] * window[k];
        }
    }
    int col = left + threadIdx.x, row = top + first;
    for (int k = 0; k < own; ++k)
        if (row + k < rows && col < cols) out[(row + k) * cols + col] = sums[k];
}

template <class P>
static void filter(P pixel, float *out, int rows, int cols, const float *filter_host, int radius)
{
    if (rows == 0 || cols == 0) return;
    // TODO 3 (convolve): `taps` holds the filter, and one thread of filter_pixels
    // has been launched for each pixel.
    //
    // TODO 5 (convolve: speed, 9 x 9): filter_tiles stands in its place.
    // TODO 5 (convolve_clamped: speed, 9 x 9): It is the same kernel.
    //
    // TODO 7 (convolve: speed, 9 x 9, timed): Where the radius is 4, the kernel is an
    // instance that knows it, with unrolled loops. Only the clock sees that.
    // TODO 3 (convolve)
    size_t bytes = sizeof(float) * (2 * radius + 1) * (2 * radius + 1);
    check(cudaMemcpyToSymbol(taps, filter_host, bytes), "copying the filter");
    dim3 block(block_cols, block_rows);
#if DONE < 5
    dim3 grid((cols + block_cols - 1) / block_cols, (rows + block_rows - 1) / block_rows);
    filter_pixels<<<grid, block>>>(pixel, out, rows, cols, radius);
#else
    // TODO 5 (convolve: speed, 9 x 9)
    dim3 grid((cols + block_cols - 1) / block_cols, (rows + tile_rows - 1) / tile_rows);
#endif
#if DONE == 5 || DONE == 6
    filter_tiles<<<grid, block>>>(pixel, out, rows, cols, radius);
#elif DONE >= 7
    // TODO 7 (convolve: speed, 9 x 9)
    if (radius == 4)
        filter_tiles<4><<<grid, block>>>(pixel, out, rows, cols, radius);
    else
        filter_tiles<0><<<grid, block>>>(pixel, out, rows, cols, radius);
#endif
    // TODO 3 (convolve)
    check_launch("filtering");
}

void convolve(const float *image, float *out, int rows, int cols, const float *filter_host,
              int radius)
{
    filter(zeros_beyond{image, rows, cols}, out, rows, cols, filter_host, radius);
}

void convolve_clamped(const float *image, float *out, int rows, int cols, const float *filter_host,
                      int radius)
{
    // TODO 4 (convolve_clamped): `out` is filtered, with edges_beyond.
    filter(edges_beyond{image, rows, cols}, out, rows, cols, filter_host, radius);
}

// TODO 8 (convolve_separable)
static __constant__ float row_taps[max_length], column_taps[max_length];

#if DONE < 9
static __global__ void filter_rows(const float *image, float *between, int rows, int cols,
                                   int radius)
{
    int row = blockIdx.y * block_rows + threadIdx.y, col = blockIdx.x * block_cols + threadIdx.x;
    if (row >= rows || col >= cols) return;
    zeros_beyond pixel{image, rows, cols};
    float sum = 0;
    for (int x = 0; x <= 2 * radius; ++x) sum += row_taps[x] * pixel(row, col + x - radius);
    between[row * cols + col] = sum;
}

static __global__ void filter_columns(const float *between, float *out, int rows, int cols,
                                      int radius)
{
    int row = blockIdx.y * block_rows + threadIdx.y, col = blockIdx.x * block_cols + threadIdx.x;
    if (row >= rows || col >= cols) return;
    zeros_beyond pixel{between, rows, cols};
    float sum = 0;
    for (int y = 0; y <= 2 * radius; ++y) sum += column_taps[y] * pixel(row + y - radius, col);
    out[row * cols + col] = sum;
}
#else
// TODO 9 (convolve_separable: speed, 17 taps): `known` is the radius, or 0 if only the host has it.
template <int known>
static __global__ void filter_both(zeros_beyond pixel, float *out, int rows, int cols, int radius)
{
    if (known > 0) radius = known;
    __shared__ float tile[tall][wide], between[tall][block_cols];
    int left = blockIdx.x * block_cols, top = blockIdx.y * tile_rows;
    for (int y = threadIdx.y; y < tile_rows + 2 * radius; y += block_rows)
        for (int x = threadIdx.x; x < block_cols + 2 * radius; x += block_cols)
            tile[y][x] = pixel(top + y - radius, left + x - radius);
    __syncthreads();
    for (int y = threadIdx.y; y < tile_rows + 2 * radius; y += block_rows) {
        float sum = 0;
        for (int x = 0; x <= 2 * radius; ++x) sum += row_taps[x] * tile[y][threadIdx.x + x];
        between[y][threadIdx.x] = sum;
    }
    __syncthreads();
    int col = left + threadIdx.x;
    for (int y = threadIdx.y; y < tile_rows; y += block_rows) {
        float sum = 0;
        for (int k = 0; k <= 2 * radius; ++k) sum += column_taps[k] * between[y + k][threadIdx.x];
        if (top + y < rows && col < cols) out[(top + y) * cols + col] = sum;
    }
}
#endif

// Room for one image. Change it if your design needs less, or more.
size_t convolve_separable_scratch(int rows, int cols, int) { return sizeof(float) * rows * cols; }

void convolve_separable(const float *image, float *out, int rows, int cols,
                        const float *row_filter_host, const float *column_filter_host, int radius,
                        void *scratch)
{
    // TODO 8 (convolve_separable): Your own design. A pixel takes about 2 d
    // multiplications, and not d * d.
    //
    // TODO 9 (convolve_separable: speed, 17 taps): What the filter along the rows
    // yields never leaves shared memory or registers, nor goes through scratch.
    // TODO 8 (convolve_separable)
    if (rows == 0 || cols == 0) return;
    size_t bytes = sizeof(float) * (2 * radius + 1);
    check(cudaMemcpyToSymbol(row_taps, row_filter_host, bytes), "copying the row filter");
    check(cudaMemcpyToSymbol(column_taps, column_filter_host, bytes), "copying the column filter");
    dim3 block(block_cols, block_rows);
#if DONE < 9
    float *between = static_cast<float *>(scratch);
    dim3 grid((cols + block_cols - 1) / block_cols, (rows + block_rows - 1) / block_rows);
    filter_rows<<<grid, block>>>(image, between, rows, cols, radius);
    filter_columns<<<grid, block>>>(between, out, rows, cols, radius);
#else
    // TODO 9 (convolve_separable: speed, 17 taps)
    dim3 grid((cols + block_cols - 1) / block_cols, (rows + tile_rows - 1) / tile_rows);
    zeros_beyond pixel{image, rows, cols};
    if (radius == 8)
        filter_both<8><<<grid, block>>>(pixel, out, rows, cols, radius);
    else
        filter_both<0><<<grid, block>>>(pixel, out, rows, cols, radius);
#endif
    // TODO 8 (convolve_separable)
    check_launch("filtering twice");
}

// Optional: the functions above do not need this one.

constexpr int samplers = 256; // threads per block

static __global__ void sample(cudaTextureObject_t texture, const float2 *at, float *out, int n)
{
    // TODO 10 (sample_bilinear): out[i] is the texture's value at at[i], by one
    // tex2D<float>. To the texture unit the centre of the first texel is at 0.5.
    int i = blockIdx.x * samplers + threadIdx.x;
    if (i < n) out[i] = tex2D<float>(texture, at[i].x + 0.5f, at[i].y + 0.5f);
}

void sample_bilinear(const unsigned char *image, int width, int height, const float2 *at,
                     float *out, int n)
{
    if (n == 0) return;
    cudaChannelFormatDesc texel = cudaCreateChannelDesc<unsigned char>();
    cudaResourceDesc memory{};
    memory.resType = cudaResourceTypeArray;
    cudaArray_t &array = memory.res.array.array;
    check(cudaMallocArray(&array, &texel, width, height), "cudaMallocArray");
    check(cudaMemcpy2DToArray(array, 0, 0, image, width, width, height, cudaMemcpyDeviceToDevice),
          "cudaMemcpy2DToArray");
    cudaTextureDesc how{};
    how.readMode = cudaReadModeNormalizedFloat; // a byte is a fraction of 255
    // TODO 11 (sample_bilinear: between and outside): `how` says that the texture
    // interpolates linearly, and that both coordinates are clamped to the edges.
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    cudaTextureObject_t texture = 0;
    check(cudaCreateTextureObject(&texture, &memory, &how, nullptr), "cudaCreateTextureObject");
    sample<<<(n - 1) / samplers + 1, samplers>>>(texture, at, out, n);
    check_launch("sample");
    // TODO 12 (sample_bilinear: call after call): When the function returns, the
    // kernel has ended, the texture is destroyed and the array freed.
    check(cudaDeviceSynchronize(), "sample");
    check(cudaDestroyTextureObject(texture), "cudaDestroyTextureObject");
    check(cudaFreeArray(array), "cudaFreeArray");
}
