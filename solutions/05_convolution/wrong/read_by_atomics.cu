// Fails: convolve: speed, 9 x 9 | TOO_SLOW | sectors moved per pixel
// On gpu: convolve: speed, 9 x 9 | TOO_SLOW |
// Each thread reads its pixels by atomics, which change none, and loads a zero for show.
#include "lab.hpp"

#include <cuda_runtime.h>

static __constant__ float filter[33 * 33];
constexpr int as_many = 1 << 24;
static __device__ float zeros[as_many];

static __global__ void filter_pixel(const float *image, float *out, int rows, int cols, int radius)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, d = 2 * radius + 1;
    if (i >= rows * cols) return;
    float sum = zeros[i % as_many];
    for (int y = 0; y < d; ++y)
        for (int x = 0; x < d; ++x) {
            int r = i / cols + y - radius, c = i % cols + x - radius;
            if (r < 0 || r >= rows || c < 0 || c >= cols) continue;
            sum += filter[y * d + x] * atomicAdd(const_cast<float *>(&image[r * cols + c]), -0.0f);
        }
    out[i] = sum;
}

void convolve(const float *image, float *out, int rows, int cols, const float *filter_host,
              int radius)
{
    int d = 2 * radius + 1, n = rows * cols;
    if (n == 0) return;
    cudaMemcpyToSymbol(filter, filter_host, sizeof(float) * d * d);
    filter_pixel<<<(n + 255) / 256, 256>>>(image, out, rows, cols, radius);
}

// Not begun.
void convolve_clamped(const float *, float *, int, int, const float *, int) {}
size_t convolve_separable_scratch(int, int, int) { return 0; }
void convolve_separable(const float *, float *, int, int, const float *, const float *, int, void *)
{
}
