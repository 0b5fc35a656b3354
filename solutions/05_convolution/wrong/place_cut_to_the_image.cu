// Fails: convolve_clamped: a small image | WRONG_ANSWER | was clamped to the first and the last pixel
// One comparison for both directions: the place in memory is kept inside the image.
#include "lab.hpp"

#include <cuda_runtime.h>

static __constant__ float taps[33 * 33];

static __global__ void filter(const float *image, float *out, int rows, int cols, int radius)
{
    const int pixels = rows * cols, d = 2 * radius + 1;
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pixels; i += step) {
        float sum = 0;
        for (int k = 0; k < d * d; ++k) {
            int at = i + (k / d - radius) * cols + k % d - radius;
            if (at < 0) at = 0;
            if (at >= pixels) at = pixels - 1;
            sum += taps[k] * image[at];
        }
        out[i] = sum;
    }
}

void convolve_clamped(const float *image, float *out, int rows, int cols, const float *filter_host,
                      int radius)
{
    if (rows == 0 || cols == 0) return;
    const int d = 2 * radius + 1;
    cudaMemcpyToSymbol(taps, filter_host, sizeof(float) * d * d);
    filter<<<256, 256>>>(image, out, rows, cols, radius);
}

// Not begun.
void convolve(const float *, float *, int, int, const float *, int) {}

size_t convolve_separable_scratch(int, int, int) { return 0; }
void convolve_separable(const float *, float *, int, int, const float *, const float *, int, void *)
{
}
