// Fails: convolve: a small image | WRONG_ANSWER | of a table for radius 4
// The loops are unrolled for one radius; a smaller filter gets zeros behind it, none in front.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_cols = 32, block_rows = 8, known = 4, side = 2 * known + 1;

static __constant__ float taps[33 * 33];

static __global__ void filter_known(const float *image, float *out, int rows, int cols)
{
    const int col = blockIdx.x * block_cols + threadIdx.x;
    const int row = blockIdx.y * block_rows + threadIdx.y;
    if (row >= rows || col >= cols) return;
    float sum = 0;
#pragma unroll
    for (int y = 0; y < side; ++y)
#pragma unroll
        for (int x = 0; x < side; ++x) {
            const int r = row + y - known, c = col + x - known;
            if (r >= 0 && r < rows && c >= 0 && c < cols)
                sum += taps[y * side + x] * image[r * cols + c];
        }
    out[row * cols + col] = sum;
}

static __global__ void filter_any(const float *image, float *out, int rows, int cols, int radius)
{
    const int col = blockIdx.x * block_cols + threadIdx.x;
    const int row = blockIdx.y * block_rows + threadIdx.y;
    if (row >= rows || col >= cols) return;
    const int d = 2 * radius + 1;
    float sum = 0;
    for (int y = 0; y < d; ++y)
        for (int x = 0; x < d; ++x) {
            const int r = row + y - radius, c = col + x - radius;
            if (r >= 0 && r < rows && c >= 0 && c < cols)
                sum += taps[y * d + x] * image[r * cols + c];
        }
    out[row * cols + col] = sum;
}

void convolve(const float *image, float *out, int rows, int cols, const float *filter_host,
              int radius)
{
    if (rows == 0 || cols == 0) return;
    const int d = 2 * radius + 1;
    const dim3 grid((cols + block_cols - 1) / block_cols, (rows + block_rows - 1) / block_rows);
    const dim3 block(block_cols, block_rows);
    if (radius > known) {
        cudaMemcpyToSymbol(taps, filter_host, sizeof(float) * d * d);
        filter_any<<<grid, block>>>(image, out, rows, cols, radius);
        return;
    }
    float table[side * side] = {};
    for (int i = 0; i < d * d; ++i) table[i / d * side + i % d] = filter_host[i];
    cudaMemcpyToSymbol(taps, table, sizeof table);
    filter_known<<<grid, block>>>(image, out, rows, cols);
}

// Not begun.
void convolve_clamped(const float *, float *, int, int, const float *, int) {}

size_t convolve_separable_scratch(int, int, int) { return 0; }
void convolve_separable(const float *, float *, int, int, const float *, const float *, int, void *)
{
}
