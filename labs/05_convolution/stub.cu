// Lab 05, convolution: the file to edit. What each function must do: lab.hpp.
// The lesson: handouts/05_convolution.md. Stuck at a TODO: ./workbook hint 05.
//
// The launches below are in place: one thread per pixel, in blocks of 32 x 8;
// for a separable filter two kernels, with the intermediate image in scratch.
// Change kernels, launches and scratch where your idea needs it.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_cols = 32, block_rows = 8;
constexpr int most = 2 * 16 + 1; // elements of the largest filter per side

// Constant memory: kernels read it, the host writes it before the launch.
static __constant__ float taps[most * most];
static __constant__ float row_taps[most], column_taps[most];

static dim3 blocks_for(int rows, int cols)
{
    return dim3((cols + block_cols - 1) / block_cols, (rows + block_rows - 1) / block_rows);
}

// Returns the pixel in row r and column c, also for places beyond the image.
struct zeros_beyond {
    const float *image;
    int rows, cols;
    __device__ float operator()(int r, int c) const
    {
        float pixel = 0;
        // TODO 1 (convolve): `pixel` must be the pixel, where there is one.
        return pixel;
    }
};

template <class P>
static __global__ void filter_pixels(P pixel, float *out, int rows, int cols, int radius)
{
    // TODO 2 (convolve): This thread's pixel of `out`, if there is one, must be
    // the sum of the filter's elements times the pixels under them.
}

void convolve(const float *image, float *out, int rows, int cols, const float *filter_host,
              int radius)
{
    if (rows == 0 || cols == 0) return;
    // TODO 3 (convolve): `taps` must hold the filter.
    filter_pixels<<<blocks_for(rows, cols), dim3(block_cols, block_rows)>>>(
        zeros_beyond{image, rows, cols}, out, rows, cols, radius);
    check_launch("filter_pixels");
}

struct edges_beyond {
    const float *image;
    int rows, cols;
    __device__ float operator()(int r, int c) const
    {
        float pixel = 0;
        // TODO 4 (convolve_clamped): `pixel` must be the nearest pixel of the
        // image.
        return pixel;
    }
};

void convolve_clamped(const float *image, float *out, int rows, int cols, const float *filter_host,
                      int radius)
{
    if (rows == 0 || cols == 0) return;
    // TODO 4 (convolve_clamped): `taps` must hold the filter, and filter_pixels
    // be launched as above, with edges_beyond.
}

static __global__ void filter_rows(const float *image, float *between, int rows, int cols,
                                   int radius)
{
    // TODO 5 (convolve_separable): Each pixel of `between` must be the sum of
    // row_taps times its neighbours to the left and to the right in `image`.
}

static __global__ void filter_columns(const float *between, float *out, int rows, int cols,
                                      int radius)
{
    // TODO 6 (convolve_separable): Each pixel of `out` must be the sum of
    // column_taps times its neighbours above and below in `between`.
}

size_t convolve_separable_scratch(int rows, int cols, int) { return sizeof(float) * rows * cols; }

void convolve_separable(const float *image, float *out, int rows, int cols,
                        const float *row_filter_host, const float *column_filter_host, int radius,
                        void *scratch)
{
    if (rows == 0 || cols == 0) return;
    // TODO 6 (convolve_separable): row_taps and column_taps must hold the
    // filters.
    float *between = static_cast<float *>(scratch);
    dim3 blocks = blocks_for(rows, cols), block(block_cols, block_rows);
    filter_rows<<<blocks, block>>>(image, between, rows, cols, radius);
    filter_columns<<<blocks, block>>>(between, out, rows, cols, radius);
    check_launch("filter_rows and filter_columns");
}

// When everything passes, all three functions can become faster.
//
// TODO 7 (convolve: speed, 9 x 9): Each pixel must be loaded once per block that
// needs it, into shared memory, with those beyond the image already right.
// TODO 7 (convolve_clamped: speed, 9 x 9): It is the same kernel.
//
// TODO 8 (convolve: speed, 9 x 9): The compiler must know the radius, and a
// thread must have several pixels, so that a loaded value serves several sums.
// TODO 8 (convolve_clamped: speed, 9 x 9): It is the same kernel.
//
// TODO 9 (convolve_separable: speed, 17 taps): What filter_rows computes must
// stay in shared memory or in registers: one kernel, and nothing in scratch.

// Optional: the functions above do not need this one.

constexpr int samplers = 256; // threads per block

static __global__ void sample(cudaTextureObject_t texture, const float2 *at, float *out, int n)
{
    // TODO 10 (sample_bilinear): out[i] must be the value that one tex2D<float>
    // returns for at[i]. To the texture unit the centre of the first texel is at
    // 0.5.
}

void sample_bilinear(const unsigned char *image, int width, int height, const float2 *at,
                     float *out, int n)
{
    if (n == 0) return;
    cudaChannelFormatDesc texel = cudaCreateChannelDesc<unsigned char>();
    cudaResourceDesc memory{};
    memory.resType = cudaResourceTypeArray;
    cudaArray_t &array = memory.res.array.array;
    check(cudaMallocArray(&array, &texel, width, height), "cudaMallocArray");
    check(cudaMemcpy2DToArray(array, 0, 0, image, width, width, height, cudaMemcpyDeviceToDevice),
          "cudaMemcpy2DToArray");
    cudaTextureDesc how{};
    how.readMode = cudaReadModeNormalizedFloat; // a byte is a fraction of 255
    // TODO 11 (sample_bilinear: between and outside): `how` must say that the
    // texture interpolates linearly, and clamps both coordinates to the edges.
    cudaTextureObject_t texture = 0;
    check(cudaCreateTextureObject(&texture, &memory, &how, nullptr), "cudaCreateTextureObject");
    sample<<<(n + samplers - 1) / samplers, samplers>>>(texture, at, out, n);
    check_launch("sample");
    // TODO 12 (sample_bilinear: call after call): When the function returns, the
    // kernel must have ended, the texture be destroyed and the array freed.
}
