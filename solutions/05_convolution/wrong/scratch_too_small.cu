// Fails: convolve_separable: a small image | OUT_OF_BOUNDS | _scratch asked for 35 bytes
// On gpu: convolve_separable: a small image | OUT_OF_BOUNDS | convolve_separable_scratch asked for
// As many bytes as there are pixels.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_cols = 32, block_rows = 8;

static __constant__ float row_taps[33], column_taps[33];

static __global__ void filter_rows(const float *image, float *between, int rows, int cols,
                                   int radius)
{
    int col = blockIdx.x * block_cols + threadIdx.x, row = blockIdx.y * block_rows + threadIdx.y;
    if (row >= rows || col >= cols) return;
    float sum = 0;
    for (int x = 0; x <= 2 * radius; ++x) {
        int c = col + x - radius;
        if (c >= 0 && c < cols) sum += row_taps[x] * image[row * cols + c];
    }
    between[row * cols + col] = sum;
}

static __global__ void filter_columns(const float *between, float *out, int rows, int cols,
                                      int radius)
{
    int col = blockIdx.x * block_cols + threadIdx.x, row = blockIdx.y * block_rows + threadIdx.y;
    if (row >= rows || col >= cols) return;
    float sum = 0;
    for (int y = 0; y <= 2 * radius; ++y) {
        int r = row + y - radius;
        if (r >= 0 && r < rows) sum += column_taps[y] * between[r * cols + col];
    }
    out[row * cols + col] = sum;
}

size_t convolve_separable_scratch(int rows, int cols, int) { return size_t(rows) * cols; }

void convolve_separable(const float *image, float *out, int rows, int cols,
                        const float *row_filter_host, const float *column_filter_host, int radius,
                        void *scratch)
{
    if (rows == 0 || cols == 0) return;
    size_t bytes = sizeof(float) * (2 * radius + 1);
    cudaMemcpyToSymbol(row_taps, row_filter_host, bytes);
    cudaMemcpyToSymbol(column_taps, column_filter_host, bytes);
    float *between = static_cast<float *>(scratch);
    dim3 grid((cols + block_cols - 1) / block_cols, (rows + block_rows - 1) / block_rows);
    dim3 block(block_cols, block_rows);
    filter_rows<<<grid, block>>>(image, between, rows, cols, radius);
    filter_columns<<<grid, block>>>(between, out, rows, cols, radius);
}

// Not begun.
void convolve(const float *, float *, int, int, const float *, int) {}
void convolve_clamped(const float *, float *, int, int, const float *, int) {}
