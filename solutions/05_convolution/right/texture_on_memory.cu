// Right: The tile is fetched through a texture on the image's own memory (tex1Dfetch, begun at the
// 512 bytes before it); images too large for a texture take plain loads.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <cstdint>

constexpr int wide = 64, high = 32, block_rows = 8, per_thread = high / block_rows;
constexpr dim3 block(wide, block_rows);

static __constant__ float taps[33 * 33], row_taps[33], column_taps[33];

// A texture on the image where it is. It must begin at a multiple of 512 bytes, so it may begin
// before the image; what lies there is never fetched.
class image_texture {
public:
    image_texture(const float *image, size_t pixels)
        : before_(reinterpret_cast<std::uintptr_t>(image) % 512 / sizeof(float))
    {
        cudaResourceDesc memory{};
        memory.resType = cudaResourceTypeLinear;
        memory.res.linear.devPtr = const_cast<float *>(image - before_);
        memory.res.linear.desc = cudaCreateChannelDesc<float>();
        memory.res.linear.sizeInBytes = sizeof(float) * (before_ + pixels);
        cudaTextureDesc how{};
        how.readMode = cudaReadModeElementType;
        check(cudaCreateTextureObject(&texture_, &memory, &how, nullptr), "making the texture");
    }
    ~image_texture()
    {
        cudaStreamSynchronize(nullptr); // it is in use until then
        cudaDestroyTextureObject(texture_);
    }
    image_texture(const image_texture &) = delete;
    cudaTextureObject_t get() const { return texture_; }
    int before() const { return before_; }

    static bool holds(size_t pixels)
    {
        const auto format = cudaCreateChannelDesc<float>();
        size_t most = 0;
        check(cudaDeviceGetTexture1DLinearMaxWidth(&most, &format, 0), "asking for the most");
        return pixels + 512 / sizeof(float) <= most;
    }

private:
    cudaTextureObject_t texture_ = 0;
    int before_;
};

template <bool clamped> struct fetched {
    cudaTextureObject_t texture;
    int before, rows, cols;
    __device__ float operator()(int r, int c) const
    {
        const int row = min(max(r, 0), rows - 1), col = min(max(c, 0), cols - 1);
        if (!clamped && (row != r || col != c)) return 0;
        return tex1Dfetch<float>(texture, before + row * cols + col);
    }
};
template <bool clamped> struct loaded {
    const float *image;
    int rows, cols;
    __device__ float operator()(int r, int c) const
    {
        if (clamped)
            return __ldg(image + min(max(r, 0), rows - 1) * cols + min(max(c, 0), cols - 1));
        return r >= 0 && r < rows && c >= 0 && c < cols ? __ldg(image + r * cols + c) : 0;
    }
};

// R is at least the radius: the filter was laid into one of radius R, with zeros around.
template <int R, class Pixel> static __global__ void __launch_bounds__(wide *block_rows)
    filter(Pixel pixel, float *out, int rows, int cols)
{
    constexpr int d = 2 * R + 1;
    __shared__ float tile[high + 2 * R][wide + 2 * R];
    const int left = blockIdx.x * wide, top = blockIdx.y * high;
    for (int y = threadIdx.y; y < high + 2 * R; y += block_rows)
        for (int x = threadIdx.x; x < wide + 2 * R; x += wide)
            tile[y][x] = pixel(top + y - R, left + x - R);
    __syncthreads();
    const int first = threadIdx.y * per_thread;
    float sums[per_thread] = {};
    for (int x = 0; x < d; ++x)
#pragma unroll
        for (int y = 0; y < d + per_thread - 1; ++y) {
            const float p = tile[first + y][threadIdx.x + x];
#pragma unroll
            for (int k = 0; k < per_thread; ++k)
                if (y - k >= 0 && y - k < d) sums[k] += taps[(y - k) * d + x] * p;
        }
    for (int k = 0; k < per_thread; ++k)
        if (const int r = top + first + k, c = left + threadIdx.x; r < rows && c < cols)
            out[r * cols + c] = sums[k];
}

static dim3 blocks_for(int rows, int cols)
{
    return dim3((cols + wide - 1) / wide, (rows + high - 1) / high);
}

template <int R, bool clamped>
static void run(const float *image, float *out, int rows, int cols, const float *host, int radius)
{
    constexpr int d = 2 * R + 1;
    const int side = 2 * radius + 1;
    float padded[d * d] = {};
    for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x)
            padded[(y + R - radius) * d + x + R - radius] = host[y * side + x];
    check(cudaMemcpyToSymbol(taps, padded, sizeof padded), "the filter");
    if (!image_texture::holds(size_t(rows) * cols)) {
        filter<R><<<blocks_for(rows, cols), block>>>(loaded<clamped>{image, rows, cols}, out, rows,
                                                     cols);
        return check_launch("filter");
    }
    const image_texture texture(image, size_t(rows) * cols);
    filter<R><<<blocks_for(rows, cols), block>>>(
        fetched<clamped>{texture.get(), texture.before(), rows, cols}, out, rows, cols);
    check_launch("filter");
}

template <bool clamped> static void choose(const float *image, float *out, int rows, int cols,
                                           const float *host, int radius)
{
    if (rows == 0 || cols == 0) return;
    (radius <= 4   ? run<4, clamped>
     : radius <= 8 ? run<8, clamped>
                   : run<16, clamped>)(image, out, rows, cols, host, radius);
}

void convolve(const float *image, float *out, int rows, int cols, const float *f, int radius)
{
    choose<false>(image, out, rows, cols, f, radius);
}
void convolve_clamped(const float *image, float *out, int rows, int cols, const float *f,
                      int radius)
{
    choose<true>(image, out, rows, cols, f, radius);
}

// A copy to a texture would cost more here than it saves: bytes are what limits this.
static __global__ void __launch_bounds__(wide *block_rows)
    filter_product(loaded<false> pixel, float *out, int rows, int cols, int radius)
{
    __shared__ float row[block_rows][wide + 32], along[high + 32][wide];
    const int left = blockIdx.x * wide, top = blockIdx.y * high, d = 2 * radius + 1;
    for (int y = threadIdx.y; y - threadIdx.y < high + 2 * radius; y += block_rows) {
        for (int x = threadIdx.x; x < wide + 2 * radius; x += wide)
            row[threadIdx.y][x] = pixel(top + y - radius, left + x - radius);
        __syncthreads();
        float sum = 0;
        for (int x = 0; x < d; ++x) sum += row_taps[x] * row[threadIdx.y][threadIdx.x + x];
        if (y < high + 2 * radius) along[y][threadIdx.x] = sum;
        __syncthreads();
    }
    for (int y = threadIdx.y; y < high; y += block_rows) {
        float sum = 0;
        for (int k = 0; k < d; ++k) sum += column_taps[k] * along[y + k][threadIdx.x];
        if (const int r = top + y, c = left + threadIdx.x; r < rows && c < cols)
            out[r * cols + c] = sum;
    }
}

size_t convolve_separable_scratch(int, int, int) { return 0; }
void convolve_separable(const float *image, float *out, int rows, int cols,
                        const float *row_filter_host, const float *column_filter_host, int radius,
                        void *)
{
    if (rows == 0 || cols == 0) return;
    const size_t bytes = sizeof(float) * (2 * radius + 1);
    check(cudaMemcpyToSymbol(row_taps, row_filter_host, bytes), "the row filter");
    check(cudaMemcpyToSymbol(column_taps, column_filter_host, bytes), "the column filter");
    filter_product<<<blocks_for(rows, cols), block>>>({image, rows, cols}, out, rows, cols, radius);
    check_launch("filter_product");
}
