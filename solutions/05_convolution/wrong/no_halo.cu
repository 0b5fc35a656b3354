// Fails: convolve: every radius | WRONG_ANSWER | took the pixels around them to be 0
// A block sees its own pixels only.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_cols = 32, block_rows = 8, most = 16;

static __constant__ float taps[33 * 33];

static __global__ void filter(const float *image, float *out, int rows, int cols, int radius)
{
    int col = blockIdx.x * block_cols + threadIdx.x, row = blockIdx.y * block_rows + threadIdx.y;
    __shared__ float tile[block_rows + 2 * most][block_cols + 2 * most];
    int top = blockIdx.y * block_rows - radius, left = blockIdx.x * block_cols - radius;
    for (int y = threadIdx.y; y < block_rows + 2 * radius; y += block_rows)
        for (int x = threadIdx.x; x < block_cols + 2 * radius; x += block_cols) {
            int r = top + y, c = left + x;
            bool there = r >= 0 && r < rows && c >= 0 && c < cols;
            bool in_rows = y >= radius && y < block_rows + radius;
            bool in_cols = x >= radius && x < block_cols + radius;
            tile[y][x] = there && in_rows && in_cols ? image[r * cols + c] : 0;
        }
    __syncthreads();
    if (row >= rows || col >= cols) return;
    int d = 2 * radius + 1;
    float sum = 0;
    for (int y = 0; y < d; ++y)
        for (int x = 0; x < d; ++x) sum += taps[y * d + x] * tile[threadIdx.y + y][threadIdx.x + x];
    out[row * cols + col] = sum;
}

void convolve(const float *image, float *out, int rows, int cols, const float *filter_host,
              int radius)
{
    if (rows == 0 || cols == 0) return;
    int d = 2 * radius + 1;
    cudaMemcpyToSymbol(taps, filter_host, sizeof(float) * d * d);
    dim3 grid((cols + block_cols - 1) / block_cols, (rows + block_rows - 1) / block_rows);
    filter<<<grid, dim3(block_cols, block_rows)>>>(image, out, rows, cols, radius);
}

// Not begun.
void convolve_clamped(const float *, float *, int, int, const float *, int) {}

size_t convolve_separable_scratch(int, int, int) { return 0; }
void convolve_separable(const float *, float *, int, int, const float *, const float *, int, void *)
{
}
