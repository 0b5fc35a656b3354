// Fails: convolve: images that begin anywhere | RESOURCE_LIMIT | the next call takes more
// On gpu: passes - what a call leaves behind is counted on the simulator alone
// A copy of the image is made in each call, and never freed.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_cols = 32, block_rows = 8;

static __constant__ float taps[33 * 33];

static __global__ void filter(const float *image, float *out, int rows, int cols, int radius)
{
    int col = blockIdx.x * block_cols + threadIdx.x, row = blockIdx.y * block_rows + threadIdx.y;
    if (row >= rows || col >= cols) return;
    int d = 2 * radius + 1;
    float sum = 0;
    for (int y = 0; y < d; ++y)
        for (int x = 0; x < d; ++x) {
            int r = row + y - radius, c = col + x - radius;
            if (r >= 0 && r < rows && c >= 0 && c < cols)
                sum += taps[y * d + x] * image[r * cols + c];
        }
    out[row * cols + col] = sum;
}

void convolve(const float *image, float *out, int rows, int cols, const float *filter_host,
              int radius)
{
    if (rows == 0 || cols == 0) return;
    int d = 2 * radius + 1;
    cudaMemcpyToSymbol(taps, filter_host, sizeof(float) * d * d);
    float *copy = nullptr;
    cudaMalloc(&copy, sizeof(float) * rows * cols);
    cudaMemcpyAsync(copy, image, sizeof(float) * rows * cols, cudaMemcpyDeviceToDevice);
    dim3 grid((cols + block_cols - 1) / block_cols, (rows + block_rows - 1) / block_rows);
    filter<<<grid, dim3(block_cols, block_rows)>>>(copy, out, rows, cols, radius);
}

// Not begun.
void convolve_clamped(const float *, float *, int, int, const float *, int) {}

size_t convolve_separable_scratch(int, int, int) { return 0; }
void convolve_separable(const float *, float *, int, int, const float *, const float *, int, void *)
{
}
