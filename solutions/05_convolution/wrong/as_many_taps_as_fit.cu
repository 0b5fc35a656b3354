// Fails: convolve: a small image | OUT_OF_BOUNDS | however many the destination has room for
// On gpu: may pass - the bytes behind the caller's filter are copied and never used
// The copy fills the whole table of taps, and reads past the end of the caller's filter.
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
    cudaMemcpyToSymbol(taps, filter_host, sizeof taps);
    dim3 grid((cols + block_cols - 1) / block_cols, (rows + block_rows - 1) / block_rows);
    filter<<<grid, dim3(block_cols, block_rows)>>>(image, out, rows, cols, radius);
}

// Not begun.
void convolve_clamped(const float *, float *, int, int, const float *, int) {}

size_t convolve_separable_scratch(int, int, int) { return 0; }
void convolve_separable(const float *, float *, int, int, const float *, const float *, int, void *)
{
}
