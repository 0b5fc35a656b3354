// Lab 05, rung 1: memories that kernels only read. Constant memory hands one element of the filter
// to all lanes of a warp at once; a texture interpolates as it reads.
//
// New: __constant__ in place of __device__, which by itself does not help: see the handout. A
// texture on a CUDA array in sample_bilinear, which clamps, filters and scales.
// Unchanged: convolve_separable.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

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

template <bool clamped>
static __global__ void filter_pixels(const float *image, float *out, int rows, int cols, int radius)
{
    int col = blockIdx.x * block_cols + threadIdx.x, row = blockIdx.y * block_rows + threadIdx.y;
    if (row >= rows || col >= cols) return;
    int d = 2 * radius + 1;
    float sum = 0;
    for (int y = 0; y < d; ++y)
        for (int x = 0; x < d; ++x)
            sum += taps[y * d + x] *
                   pixel<clamped>(image, rows, cols, row + y - radius, col + x - radius);
    out[row * cols + col] = sum;
}

template <bool clamped> static void filter(const float *image, float *out, int rows, int cols,
                                           const float *filter_host, int radius)
{
    if (rows == 0 || cols == 0) return;
    size_t bytes = sizeof(float) * (2 * radius + 1) * (2 * radius + 1);
    check(cudaMemcpyToSymbol(taps, filter_host, bytes), "copying the filter");
    dim3 grid(pieces(cols, block_cols), pieces(rows, block_rows));
    filter_pixels<clamped><<<grid, dim3(block_cols, block_rows)>>>(image, out, rows, cols, radius);
    check_launch("filter_pixels");
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
    sample<<<pieces(n, samplers), samplers>>>(texture, at, out, n);
    check(cudaDeviceSynchronize(), "sample"); // the texture must outlive it
    check(cudaDestroyTextureObject(texture), "cudaDestroyTextureObject");
    check(cudaFreeArray(memory.res.array.array), "cudaFreeArray");
}
