// Lab 05, the time to beat: what a careful beginner writes first. A thread a pixel, and the filter
// in global memory; a filter that is a product is multiplied out and handled like any other.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <vector>

constexpr int largest = 33; // a filter's elements a side
constexpr int block_cols = 32, block_rows = 8;

static __device__ float filter[largest * largest];

template <bool clamped> static __global__ void convolve_pixel(const float *image, float *out,
                                                              int rows, int cols, int radius)
{
    int col = blockIdx.x * block_cols + threadIdx.x, row = blockIdx.y * block_rows + threadIdx.y;
    if (row >= rows || col >= cols) return;
    int d = 2 * radius + 1;
    float sum = 0;
    for (int y = 0; y < d; ++y)
        for (int x = 0; x < d; ++x) {
            int r = row + y - radius, c = col + x - radius;
            if (clamped) {
                r = min(max(r, 0), rows - 1);
                c = min(max(c, 0), cols - 1);
            }
            if (r >= 0 && r < rows && c >= 0 && c < cols)
                sum += filter[y * d + x] * image[r * cols + c];
        }
    out[row * cols + col] = sum;
}

template <bool clamped> static void launch(const float *image, float *out, int rows, int cols,
                                           const float *filter_host, int radius)
{
    if (rows == 0 || cols == 0) return;
    int d = 2 * radius + 1;
    check(cudaMemcpyToSymbol(filter, filter_host, sizeof(float) * d * d), "copying the filter");
    dim3 grid((cols + block_cols - 1) / block_cols, (rows + block_rows - 1) / block_rows);
    convolve_pixel<clamped><<<grid, dim3(block_cols, block_rows)>>>(image, out, rows, cols, radius);
    check_launch("convolve_pixel");
}

void convolve(const float *image, float *out, int rows, int cols, const float *filter_host,
              int radius)
{
    launch<false>(image, out, rows, cols, filter_host, radius);
}

void convolve_clamped(const float *image, float *out, int rows, int cols, const float *filter_host,
                      int radius)
{
    launch<true>(image, out, rows, cols, filter_host, radius);
}

size_t convolve_separable_scratch(int, int, int) { return 0; }

void convolve_separable(const float *image, float *out, int rows, int cols,
                        const float *row_filter_host, const float *column_filter_host, int radius,
                        void *)
{
    std::vector<float> product;
    for (int y = 0; y <= 2 * radius; ++y)
        for (int x = 0; x <= 2 * radius; ++x)
            product.push_back(column_filter_host[y] * row_filter_host[x]);
    convolve(image, out, rows, cols, product.data(), radius);
}

// --- Not timed ---

constexpr int sample_block = 256;

static __device__ float pixel(const unsigned char *image, int width, int height, float x, float y)
{
    int col = static_cast<int>(fminf(fmaxf(x, 0), width - 1));
    int row = static_cast<int>(fminf(fmaxf(y, 0), height - 1));
    return image[row * width + col] / 255.0f;
}

static __global__ void sample(const unsigned char *image, int width, int height, const float2 *at,
                              float *out, int n)
{
    int i = blockIdx.x * sample_block + threadIdx.x;
    if (i >= n) return;
    float x = floorf(at[i].x), y = floorf(at[i].y), right = at[i].x - x, below = at[i].y - y;
    float above_mean = (1 - right) * pixel(image, width, height, x, y) +
                       right * pixel(image, width, height, x + 1, y);
    float below_mean = (1 - right) * pixel(image, width, height, x, y + 1) +
                       right * pixel(image, width, height, x + 1, y + 1);
    out[i] = (1 - below) * above_mean + below * below_mean;
}

void sample_bilinear(const unsigned char *image, int width, int height, const float2 *at,
                     float *out, int n)
{
    if (n == 0) return;
    sample<<<(n + sample_block - 1) / sample_block, sample_block>>>(image, width, height, at, out,
                                                                    n);
    check_launch("sample");
}
