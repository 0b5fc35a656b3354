// Lab 05, convolution: the file to edit. What each function must do: lab.hpp.
// The lesson: handouts/05_convolution.md. Stuck at a TODO: ./workbook hint 05.
//
// TODOs 1 to 4 filter an image as it is defined, TODOs 5 to 7 make that faster.
// TODOs 8 and 9 are a design of your own. The last three are optional.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int max_radius = 16, max_length = 2 * max_radius + 1;
constexpr int block_cols = 32, block_rows = 8; // threads of a block

// Constant memory: kernels read it, the host writes it before the launch.
static __constant__ float taps[max_length * max_length];

// Returns the pixel in row r and column c, also for places beyond the image.
struct zeros_beyond {
    const float *image;
    int rows, cols;
    __device__ float operator()(int r, int c) const
    {
        float pixel = 0;
        // TODO 1 (convolve): `pixel` must be the image's, where there is one.
        return pixel;
    }
};
struct edges_beyond {
    const float *image;
    int rows, cols;
    __device__ float operator()(int r, int c) const
    {
        float pixel = 0;
        // TODO 4 (convolve_clamped): `pixel` must be the nearest one of the image.
        return pixel;
    }
};

template <class P>
static __global__ void filter_pixels(P pixel, float *out, int rows, int cols, int radius)
{
    // TODO 2 (convolve): This thread's pixel of `out`, if there is one, must be the
    // sum of the filter's elements times the pixels under them.
}

template <class P>
static __global__ void filter_tiles(P pixel, float *out, int rows, int cols, int radius)
{
    // TODO 5 (convolve: speed, 9 x 9): The same, but a block must load each pixel
    // that it needs, those of the halo too, from the image only once.
    //
    // TODO 6 (convolve: speed, 9 x 9): A thread must have several pixels, and a value
    // that it loads, a pixel or an element of the filter, must serve several sums.
    // TODO 6 (convolve_clamped: speed, 9 x 9): It is the same kernel.
}

template <class P>
static void filter(P pixel, float *out, int rows, int cols, const float *filter_host, int radius)
{
    if (rows == 0 || cols == 0) return;
    // TODO 3 (convolve): `taps` must hold the filter, and filter_pixels must run
    // with one thread per pixel.
    //
    // TODO 5 (convolve: speed, 9 x 9): filter_tiles must take its place.
    // TODO 5 (convolve_clamped: speed, 9 x 9): It is the same kernel.
    //
    // TODO 7 (convolve: speed, 9 x 9, timed): Where the radius is 4, the kernel must
    // be an instance that knows it, with unrolled loops. Only the clock sees that.
}

void convolve(const float *image, float *out, int rows, int cols, const float *filter_host,
              int radius)
{
    filter(zeros_beyond{image, rows, cols}, out, rows, cols, filter_host, radius);
}

void convolve_clamped(const float *image, float *out, int rows, int cols, const float *filter_host,
                      int radius)
{
    // TODO 4 (convolve_clamped): `out` must be the filtered image, with edges_beyond.
}

// Room for one image. Change it if your design needs less, or more.
size_t convolve_separable_scratch(int rows, int cols, int) { return sizeof(float) * rows * cols; }

void convolve_separable(const float *image, float *out, int rows, int cols,
                        const float *row_filter_host, const float *column_filter_host, int radius,
                        void *scratch)
{
    // TODO 8 (convolve_separable): Your own design. A pixel may take about 2 d
    // multiplications, but not d * d.
    //
    // TODO 9 (convolve_separable: speed, 17 taps): The sums along the rows must stay
    // in shared memory or registers, and none go through scratch.
}

// Optional: the functions above do not need this one.

constexpr int samplers = 256; // threads per block

static __global__ void sample(cudaTextureObject_t texture, const float2 *at, float *out, int n)
{
    // TODO 10 (sample_bilinear): out[i] must be the texture's value at at[i], by one
    // tex2D<float>. To the texture unit the centre of the first texel is at 0.5.
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
    // TODO 11 (sample_bilinear: between and outside): `how` must say that the texture
    // interpolates linearly, and that both coordinates are clamped to the edges.
    cudaTextureObject_t texture = 0;
    check(cudaCreateTextureObject(&texture, &memory, &how, nullptr), "cudaCreateTextureObject");
    sample<<<(n - 1) / samplers + 1, samplers>>>(texture, at, out, n);
    check_launch("sample");
    // TODO 12 (sample_bilinear: call after call): When the function returns, the
    // kernel must have ended, the texture be destroyed and the array freed.
}
