// Right: The tile is brought by asynchronous copies (cp.async), which fill with zeros what lies
// beyond the image; a fixed grid of blocks goes over the tiles and brings the next one while it
// computes; blocks of 96 threads.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <algorithm>

constexpr int threads = 96, tile_cols = 96; // a thread a column
constexpr int d_most = 33;
// The rows of the halo are filtered twice: so many rows as fit the shared memory of any device.
__host__ __device__ constexpr int tile_rows_for(int radius) { return radius <= 8 ? 48 : 24; }

struct size2 {
    int rows, cols;
    __host__ __device__ int across() const { return (cols + tile_cols - 1) / tile_cols; }
    __host__ __device__ int tiles(int tile_rows) const
    {
        return across() * ((rows + tile_rows - 1) / tile_rows);
    }
};

static __constant__ float taps[d_most * d_most], row_taps[d_most], column_taps[d_most];

template <int R> struct tile_of {
    static constexpr int tile_rows = tile_rows_for(R);
    float at[tile_rows + 2 * R][tile_cols + 2 * R];

    template <bool clamped> __device__ void bring(const float *image, size2 size, int tile)
    {
        const int top = tile / size.across() * tile_rows - R,
                  left = tile % size.across() * tile_cols - R;
        for (int y = 0; y < tile_rows + 2 * R; ++y) {
            const int r = min(max(top + y, 0), size.rows - 1);
            for (int x = threadIdx.x; x < tile_cols + 2 * R; x += threads) {
                const int c = min(max(left + x, 0), size.cols - 1);
                const bool there = clamped || (r == top + y && c == left + x);
                // The last argument: how many of the 4 bytes are 0 and not loaded.
                __pipeline_memcpy_async(&at[y][x], image + r * size.cols + c, 4, there ? 0 : 4);
            }
        }
    }
};

// Walks down a column of the tile, keeping the sums of the rows that are not yet complete.
template <int R, class Row, class Factor>
static __device__ void walk(float *out, size2 size, int tile, Row row, Factor add)
{
    constexpr int d = 2 * R + 1, tile_rows = tile_rows_for(R);
    const int c = tile % size.across() * tile_cols + threadIdx.x,
              top = tile / size.across() * tile_rows;
    float sums[d] = {};
    for (int y = 0; y < tile_rows + 2 * R; ++y) {
        add(row(y), sums);
        const int done = top + y - 2 * R;
        if (y >= 2 * R && done < size.rows && c < size.cols)
            out[done * size.cols + c] = sums[d - 1];
#pragma unroll
        for (int k = d - 1; k > 0; --k) sums[k] = sums[k - 1];
        sums[0] = 0;
    }
}

// compute(tile of pixels, number of tile) by all threads, while the next tile is on its way.
template <int R, bool clamped, class Compute>
static __device__ void for_tiles(const float *image, size2 size, Compute compute)
{
    extern __shared__ __align__(16) unsigned char dynamic[];
    auto *buffers = reinterpret_cast<tile_of<R> *>(dynamic);
    int side = 0;
    if (blockIdx.x < size.tiles(tile_rows_for(R)))
        buffers[0].template bring<clamped>(image, size, blockIdx.x);
    __pipeline_commit();
    for (int tile = blockIdx.x; tile < size.tiles(tile_rows_for(R)); tile += gridDim.x, side ^= 1) {
        if (const int next = tile + gridDim.x; next < size.tiles(tile_rows_for(R)))
            buffers[side ^ 1].template bring<clamped>(image, size, next);
        __pipeline_commit();
        __pipeline_wait_prior(1); // mine of this tile have come;
        __syncthreads();          // everybody's
        compute(buffers[side], tile);
        __syncthreads(); // the buffer is free again
    }
}

template <int R, bool clamped> static __global__ void __launch_bounds__(threads)
    filter(const float *image, float *out, size2 size)
{
    constexpr int d = 2 * R + 1;
    for_tiles<R, clamped>(image, size, [=](const tile_of<R> &pixels, int tile) {
        walk<R>(
            out, size, tile, [&](int y) { return &pixels.at[y][threadIdx.x]; },
            [](const float *p, float(&sums)[d]) {
#pragma unroll
                for (int x = 0; x < d; ++x)
#pragma unroll
                    for (int y = 0; y < d; ++y) sums[y] += taps[y * d + x] * p[x];
            });
    });
}

template <int R> static __global__ void __launch_bounds__(threads)
    filter_product(const float *image, float *out, size2 size)
{
    constexpr int d = 2 * R + 1;
    for_tiles<R, false>(image, size, [=](const tile_of<R> &pixels, int tile) {
        walk<R>(
            out, size, tile, [&](int y) { return &pixels.at[y][threadIdx.x]; },
            [](const float *p, float(&sums)[d]) {
                float along = 0;
#pragma unroll
                for (int x = 0; x < d; ++x) along += row_taps[x] * p[x];
#pragma unroll
                for (int y = 0; y < d; ++y) sums[y] += column_taps[y] * along;
            });
    });
}

template <int R, class Kernel>
static void launch(Kernel kernel, const float *image, float *out, size2 size)
{
    const int bytes = 2 * sizeof(tile_of<R>);
    int sms = 0, an_sm = 0;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
          "shared memory");
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "asking for the SMs");
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&an_sm, kernel, threads, bytes),
          "occupancy");
    kernel<<<std::min(size.tiles(tile_rows_for(R)), std::max(1, sms * an_sm)), threads, bytes>>>(
        image, out, size);
    check_launch("filter");
}

// Lays the filter into the middle of one of radius R.
template <int R> static void copy_square(const float *host, int radius)
{
    constexpr int d = 2 * R + 1;
    float padded[d * d] = {};
    const int side = 2 * radius + 1, margin = R - radius;
    for (int y = 0; y < side; ++y)
        std::copy_n(host + y * side, side, padded + (y + margin) * d + margin);
    check(cudaMemcpyToSymbol(taps, padded, sizeof padded), "the filter");
}

template <int R, bool clamped>
static void run(const float *image, float *out, size2 size, const float *host, int radius)
{
    copy_square<R>(host, radius);
    launch<R>(filter<R, clamped>, image, out, size);
}
template <bool clamped>
static void choose(const float *image, float *out, size2 size, const float *host, int radius)
{
    if (size.rows == 0 || size.cols == 0) return;
    (radius <= 4 ? run<4, clamped> : run<16, clamped>)(image, out, size, host, radius);
}

void convolve(const float *image, float *out, int rows, int cols, const float *f, int radius)
{
    choose<false>(image, out, {rows, cols}, f, radius);
}
void convolve_clamped(const float *image, float *out, int rows, int cols, const float *f,
                      int radius)
{
    choose<true>(image, out, {rows, cols}, f, radius);
}

template <int R> static void run_product(const float *image, float *out, size2 size,
                                         const float *row, const float *column, int radius)
{
    float padded[2][2 * R + 1] = {};
    std::copy_n(row, 2 * radius + 1, padded[0] + R - radius);
    std::copy_n(column, 2 * radius + 1, padded[1] + R - radius);
    check(cudaMemcpyToSymbol(row_taps, padded[0], sizeof padded[0]), "the row filter");
    check(cudaMemcpyToSymbol(column_taps, padded[1], sizeof padded[1]), "the column filter");
    launch<R>(filter_product<R>, image, out, size);
}

size_t convolve_separable_scratch(int, int, int) { return 0; }
void convolve_separable(const float *image, float *out, int rows, int cols, const float *row,
                        const float *column, int radius, void *)
{
    if (rows == 0 || cols == 0) return;
    (radius <= 8 ? run_product<8> : run_product<16>)(image, out, {rows, cols}, row, column, radius);
}

constexpr int samplers = 256; // threads per block

static int sampler_grid()
{
    int device = 0, sms = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device),
          "cudaDeviceGetAttribute");
    return 2 * sms;
}

#define FOR_ALL(i, n)                                                                              \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += gridDim.x * blockDim.x)

static __global__ void sample(cudaTextureObject_t texture, const float2 *at, float *out, int n)
{
    FOR_ALL(i, n) out[i] = tex2D<float>(texture, at[i].x + 0.5f, at[i].y + 0.5f);
}

// For images that no texture can hold.
static __global__ void sample_by_hand(const unsigned char *image, int width, int height,
                                      const float2 *at, float *out, int n)
{
    FOR_ALL(i, n)
    {
        float x = fminf(fmaxf(at[i].x, 0), width - 1), y = fminf(fmaxf(at[i].y, 0), height - 1);
        int x0 = min(int(x), width - 1), x1 = min(x0 + 1, width - 1);
        int y0 = min(int(y), height - 1), y1 = min(y0 + 1, height - 1);
        float fx = x - x0, fy = y - y0;
        float top = image[y0 * width + x0] * (1 - fx) + image[y0 * width + x1] * fx;
        float bottom = image[y1 * width + x0] * (1 - fx) + image[y1 * width + x1] * fx;
        out[i] = (top * (1 - fy) + bottom * fy) / 255;
    }
}

void sample_bilinear(const unsigned char *image, int width, int height, const float2 *at,
                     float *out, int n)
{
    if (n == 0) return;
    if (width > 131072 || height > 65000) {
        sample_by_hand<<<sampler_grid(), samplers>>>(image, width, height, at, out, n);
        check_launch("sample_by_hand");
        return;
    }
    static void *memory = nullptr;
    static size_t have = 0;
    size_t pitch = (width + 511) / 512 * 512; // what any GPU wants, or a multiple of that
    if (pitch * height > have) {
        check(cudaFree(memory), "cudaFree");
        memory = nullptr, have = 0;
        check(cudaMalloc(&memory, pitch * height), "cudaMalloc");
        have = pitch * height;
    }
    check(cudaMemcpy2DAsync(memory, pitch, image, width, width, height, cudaMemcpyDeviceToDevice),
          "cudaMemcpy2DAsync");
    cudaResourceDesc where{};
    where.resType = cudaResourceTypePitch2D;
    where.res.pitch2D = {memory, cudaCreateChannelDesc<unsigned char>(), size_t(width),
                         size_t(height), pitch};
    cudaTextureDesc how{};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = cudaReadModeNormalizedFloat;
    cudaTextureObject_t texture;
    check(cudaCreateTextureObject(&texture, &where, &how, nullptr), "cudaCreateTextureObject");
    sample<<<sampler_grid(), samplers>>>(texture, at, out, n);
    cudaError_t launched = cudaPeekAtLastError(), ended = cudaDeviceSynchronize();
    check(cudaDestroyTextureObject(texture), "cudaDestroyTextureObject");
    check(launched, "sample");
    check(ended, "sample");
}
