// Right: The image goes into a CUDA array, and a texture's border and clamp modes decide what lies
// beyond the edge; images too large for a texture take plain loads.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <memory>

constexpr int wide = 64, high = 32, block_rows = 8, per_thread = high / block_rows;
constexpr dim3 block(wide, block_rows);

static __constant__ float taps[33 * 33], row_taps[33], column_taps[33];

// A texture of a copy of the image. The copy is ordered in the default stream; giving the array
// back waits for the kernels that read it.
class image_texture {
public:
    image_texture(const float *image, int rows, int cols, cudaTextureAddressMode beyond)
    {
        const auto format = cudaCreateChannelDesc<float>();
        const size_t row = sizeof(float) * cols;
        check(cudaMallocArray(&array_, &format, cols, rows), "cudaMallocArray");
        cudaError_t error = cudaMemcpy2DToArrayAsync(array_, 0, 0, image, row, row, rows,
                                                     cudaMemcpyDeviceToDevice, nullptr);
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array_;
        cudaTextureDesc description{};
        description.addressMode[0] = description.addressMode[1] = beyond;
        description.filterMode = cudaFilterModePoint;
        description.readMode = cudaReadModeElementType;
        if (error == cudaSuccess)
            error = cudaCreateTextureObject(&texture_, &resource, &description, nullptr);
        if (error != cudaSuccess) cudaFreeArray(array_);
        check(error, "making the texture");
    }
    ~image_texture()
    {
        cudaStreamSynchronize(nullptr);
        cudaDestroyTextureObject(texture_);
        cudaFreeArray(array_);
    }
    image_texture(const image_texture &) = delete;
    cudaTextureObject_t get() const { return texture_; }

private:
    cudaArray_t array_ = nullptr;
    cudaTextureObject_t texture_ = 0;
};

struct fetched {
    cudaTextureObject_t texture;
    __device__ float operator()(int r, int c) const
    {
        return tex2D<float>(texture, c + 0.5f, r + 0.5f);
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
    if (cols > 131072 || rows > 65536) { // the most that a texture of an array holds
        filter<R><<<blocks_for(rows, cols), block>>>(loaded<clamped>{image, rows, cols}, out, rows,
                                                     cols);
        return check_launch("filter");
    }
    const image_texture texture(image, rows, cols,
                                clamped ? cudaAddressModeClamp : cudaAddressModeBorder);
    filter<R><<<blocks_for(rows, cols), block>>>(fetched{texture.get()}, out, rows, cols);
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

namespace {

constexpr int samplers = 256; // threads per block

template <auto release> struct releaser {
    template <typename T> void operator()(T *what) const { release(what); }
};
using array_owner = std::unique_ptr<cudaArray, releaser<cudaFreeArray>>;

class sampled_image {
public:
    sampled_image(const unsigned char *image, int width, int height)
    {
        cudaArray_t made;
        cudaChannelFormatDesc texel = cudaCreateChannelDesc<unsigned char>();
        check(cudaMallocArray(&made, &texel, width, height), "cudaMallocArray");
        array_.reset(made);
        check(cudaMemcpy2DToArrayAsync(made, 0, 0, image, width, width, height,
                                       cudaMemcpyDeviceToDevice),
              "cudaMemcpy2DToArrayAsync");
        cudaResourceDesc where{.resType = cudaResourceTypeArray, .res{.array{.array = made}}};
        cudaTextureDesc how{.addressMode{cudaAddressModeClamp, cudaAddressModeClamp},
                            .filterMode = cudaFilterModeLinear,
                            .readMode = cudaReadModeNormalizedFloat};
        check(cudaCreateTextureObject(&object_, &where, &how, nullptr), "cudaCreateTextureObject");
    }
    sampled_image(const sampled_image &) = delete;
    ~sampled_image()
    {
        cudaDeviceSynchronize(); // also where an exception ends us
        cudaDestroyTextureObject(object_);
    }
    operator cudaTextureObject_t() const { return object_; }

private:
    array_owner array_;
    cudaTextureObject_t object_ = 0;
};

__global__ void sample(cudaTextureObject_t texture, const float2 *at, float *out, int n)
{
    int i = blockIdx.x * samplers + threadIdx.x;
    if (i >= n) return;
    auto [x, y] = at[i];
    out[i] = tex2D<float>(texture, x + 0.5f, y + 0.5f);
}

__global__ void sample_large(const unsigned char *image, int width, int height, const float2 *at,
                             float *out, int n)
{
    int i = blockIdx.x * samplers + threadIdx.x;
    if (i >= n) return;
    struct place {
        int low, high;
        float part;
        __device__ place(float at, int size)
        {
            float inside = fminf(fmaxf(at, 0.0f), size - 1);
            low = min(static_cast<int>(inside), size - 1);
            high = min(low + 1, size - 1);
            part = inside - low;
        }
    } x(at[i].x, width), y(at[i].y, height);
    auto mix = [](float a, float b, float part) { return a + (b - a) * part; };
    auto along = [&](int row) {
        return mix(image[row * width + x.low], image[row * width + x.high], x.part);
    };
    out[i] = mix(along(y.low), along(y.high), y.part) / 255;
}

} // namespace

void sample_bilinear(const unsigned char *image, int width, int height, const float2 *at,
                     float *out, int n)
{
    if (n == 0) return;
    if (width > 1 << 17 || height > 1 << 16) { // more than an array may have
        sample_large<<<(n - 1) / samplers + 1, samplers>>>(image, width, height, at, out, n);
        check_launch("sample_large");
        return;
    }
    sampled_image texture(image, width, height);
    sample<<<(n - 1) / samplers + 1, samplers>>>(texture, at, out, n);
    check_launch("sample");
}
