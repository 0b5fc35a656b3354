// Right: No shared memory and no barrier: a warp walks down a strip of 32 columns with the row and
// its halo in two registers a lane; neighbours come by shuffles, and a window of sums moves along;
// the filter is a kernel argument.
#include "../check.hpp"
#include "lab.hpp"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>

constexpr int warps = 4, strip_rows = 32; // a warp makes 32 x 32 pixels
constexpr dim3 block(32, warps);

// A filter of a smaller radius stands in the middle, with zeros around it. Arguments of a kernel
// lie in constant memory, and are copied when it is launched.
template <int R> struct square {
    static constexpr int radius = R, d = 2 * R + 1;
    float taps[d][d] = {};
    square(const float *host, int r)
    {
        for (int y = 0; y <= 2 * r; ++y)
            std::copy_n(host + y * (2 * r + 1), 2 * r + 1, taps[y + R - r] + R - r);
    }
};
template <int R> struct product {
    static constexpr int radius = R, d = 2 * R + 1;
    float row[d] = {}, column[d] = {};
    product(const float *row_host, const float *column_host, int r)
    {
        std::copy_n(row_host, 2 * r + 1, row + R - r);
        std::copy_n(column_host, 2 * r + 1, column + R - r);
    }
};

// Adds what a row brings to the sums of the d rows of the result that need it.
template <int R, class Pixel>
static __device__ void add_row(const square<R> &f, Pixel pixel, float (&sums)[2 * R + 1])
{
#pragma unroll
    for (int x = 0; x < f.d; ++x) {
        const float p = pixel(x);
#pragma unroll
        for (int y = 0; y < f.d; ++y) sums[y] += f.taps[y][x] * p;
    }
}
template <int R, class Pixel>
static __device__ void add_row(const product<R> &f, Pixel pixel, float (&sums)[2 * R + 1])
{
    float along = 0;
#pragma unroll
    for (int x = 0; x < f.d; ++x) along += f.row[x] * pixel(x);
#pragma unroll
    for (int y = 0; y < f.d; ++y) sums[y] += f.column[y] * along;
}

template <bool clamped, class F> static __global__ void __launch_bounds__(32 * warps)
    filter(const float *image, float *out, int rows, int cols, const __grid_constant__ F f)
{
    constexpr int R = F::radius, d = F::d;
    const int lane = threadIdx.x, left = blockIdx.x * 32;
    const int top = (blockIdx.y * warps + threadIdx.y) * strip_rows;
    if (top >= rows) return; // the whole warp
    const int bottom = min(top + strip_rows, rows);
    auto load = [&](int r, int c) -> float {
        if (clamped) return image[min(max(r, 0), rows - 1) * cols + min(max(c, 0), cols - 1)];
        return unsigned(r) < rows && unsigned(c) < cols ? image[r * cols + c] : 0;
    };
    float sums[d] = {}; // sums[y]: of the row that is y - R above the present one
    for (int r = top - R; r < bottom + R; ++r) {
        // Columns left - R + (0 ... 63); the second register has as many as are needed.
        const float near = load(r, left - R + lane);
        const float far = lane < 2 * R ? load(r, left - R + 32 + lane) : 0;
        add_row(
            f,
            [&](int x) { // column `lane + x` of those: a lane gives what the asking one needs
                return __shfl_sync(~0u, lane >= x ? near : far, lane + x & 31);
            },
            sums);
        const int done = r - R;
        if (done >= top && left + lane < cols) out[done * cols + left + lane] = sums[d - 1];
#pragma unroll
        for (int y = d - 1; y > 0; --y) sums[y] = sums[y - 1];
        sums[0] = 0;
    }
}

template <bool clamped, class F>
static void launch(const float *image, float *out, int rows, int cols, const F &f)
{
    if (rows == 0 || cols == 0) return;
    const dim3 blocks((cols + 31) / 32, (rows + warps * strip_rows - 1) / (warps * strip_rows));
    filter<clamped><<<blocks, block>>>(image, out, rows, cols, f);
    check_launch("filter");
}

template <bool clamped>
static void run(const float *image, float *out, int rows, int cols, const float *filter, int radius)
{
    if (radius <= 4)
        launch<clamped>(image, out, rows, cols, square<4>(filter, radius));
    else if (radius <= 8)
        launch<clamped>(image, out, rows, cols, square<8>(filter, radius));
    else
        launch<clamped>(image, out, rows, cols, square<16>(filter, radius));
}

void convolve(const float *image, float *out, int rows, int cols, const float *filter_host,
              int radius)
{
    run<false>(image, out, rows, cols, filter_host, radius);
}
void convolve_clamped(const float *image, float *out, int rows, int cols, const float *filter_host,
                      int radius)
{
    run<true>(image, out, rows, cols, filter_host, radius);
}

size_t convolve_separable_scratch(int, int, int) { return 0; }
void convolve_separable(const float *image, float *out, int rows, int cols,
                        const float *row_filter_host, const float *column_filter_host, int radius,
                        void *)
{
    if (radius <= 8)
        launch<false>(image, out, rows, cols,
                      product<8>(row_filter_host, column_filter_host, radius));
    else
        launch<false>(image, out, rows, cols,
                      product<16>(row_filter_host, column_filter_host, radius));
}

constexpr int samplers = 128; // threads per block

__global__ static void sample(cudaTextureObject_t texture, const float2 *at, float *out, int n)
{
    int i = cooperative_groups::this_grid().thread_rank();
    if (i < n) out[i] = tex2D<float>(texture, at[i].x + 0.5f, at[i].y + 0.5f);
}

// An image wider or higher than a CUDA array can be: both ways by hand.
__global__ static void sample_huge(const unsigned char *image, int width, int height,
                                   const float2 *at, float *out, int n)
{
    int i = cooperative_groups::this_grid().thread_rank();
    if (i >= n) return;
    float x = fminf(fmaxf(at[i].x, 0), width - 1), y = fminf(fmaxf(at[i].y, 0), height - 1);
    int x0 = min(int(x), width - 1), y0 = min(int(y), height - 1), sum = 0;
    int fx = lrintf((x - x0) * 256), fy = lrintf((y - y0) * 256); // as a texture weighs
    for (int k = 0; k < 4; ++k) {
        int px = min(x0 + k % 2, width - 1), py = min(y0 + k / 2, height - 1);
        sum += image[py * width + px] * (k % 2 ? fx : 256 - fx) * (k / 2 ? fy : 256 - fy);
    }
    out[i] = sum / (65536 * 255.0f);
}

void sample_bilinear(const unsigned char *image, int width, int height, const float2 *at,
                     float *out, int n)
{
    if (n == 0) return;
    if (width > 131072 || height > 65536) {
        sample_huge<<<(n - 1) / samplers + 1, samplers>>>(image, width, height, at, out, n);
        return check_launch("sample_huge");
    }
    cudaArray_t array;
    auto texel = cudaCreateChannelDesc<unsigned char>();
    check(cudaMallocArray(&array, &texel, width, height), "cudaMallocArray");
    check(cudaMemcpy2DToArray(array, 0, 0, image, width, width, height, cudaMemcpyDeviceToDevice),
          "cudaMemcpy2DToArray");
    cudaResourceDesc where{.resType = cudaResourceTypeArray, .res = {.array = {array}}};
    cudaTextureDesc how{};
    std::fill_n(how.addressMode, 3, cudaAddressModeClamp);
    how.filterMode = cudaFilterModeLinear;
    how.readMode = cudaReadModeNormalizedFloat;
    cudaTextureObject_t texture;
    check(cudaCreateTextureObject(&texture, &where, &how, nullptr), "cudaCreateTextureObject");
    sample<<<(n - 1) / samplers + 1, samplers>>>(texture, at, out, n);
    check_launch("sample");
    check(cudaStreamSynchronize(nullptr), "sample");
    check(cudaDestroyTextureObject(texture), "cudaDestroyTextureObject");
    check(cudaFreeArray(array), "cudaFreeArray");
}
