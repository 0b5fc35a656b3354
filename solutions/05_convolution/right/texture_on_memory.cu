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

constexpr int samplers = 160; // threads per block, five warps

__device__ static int sampler_number()
{
    int i;
    asm("mad.lo.s32 %0, %1, %2, %3;"
        : "=r"(i)
        : "r"(blockIdx.x), "r"(blockDim.x), "r"(threadIdx.x));
    return i;
}

__global__ static void sample(cudaTextureObject_t texture, const float2 *at, float *out, int n)
{
    int i = sampler_number();
    if (i >= n) return;
    float x, y, r;
    float g, b, a; // a texture hands out four, of which an image has one
    asm volatile("ld.global.nc.v2.f32 {%0, %1}, [%2];" : "=f"(x), "=f"(y) : "l"(at + i));
    asm volatile("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
                 : "=f"(r), "=f"(g), "=f"(b), "=f"(a)
                 : "l"(texture), "f"(x + 0.5f), "f"(y + 0.5f));
    out[i] = r;
}

__global__ static void sample_oversize(const unsigned char *image, int width, int height,
                                       const float2 *at, float *out, int n)
{
    int i = sampler_number();
    if (i >= n) return;
    float x = fminf(fmaxf(at[i].x, 0.0f), width - 1.0f);
    float y = fminf(fmaxf(at[i].y, 0.0f), height - 1.0f);
    int x0 = min(__float2int_rd(x), width - 1), y0 = min(__float2int_rd(y), height - 1);
    int right = x0 + 1 < width, below = y0 + 1 < height ? width : 0;
    const unsigned char *p = image + y0 * width + x0;
    float fx = x - x0, fy = y - y0;
    out[i] = ((1 - fy) * ((1 - fx) * p[0] + fx * p[right]) +
              fy * ((1 - fx) * p[below] + fx * p[below + right])) /
             255.0f;
}

void sample_bilinear(const unsigned char *image, int width, int height, const float2 *at,
                     float *out, int n)
{
    if (n == 0) return;
    if (width > 131072 || height > 65536) {
        sample_oversize<<<(n - 1) / samplers + 1, samplers>>>(image, width, height, at, out, n);
        check_launch("sample_oversize");
        return;
    }
    // The last image's array and texture stay, for the next of the same size.
    static cudaArray_t array = nullptr;
    static cudaTextureObject_t texture = 0;
    static int wide = 0, high = 0;
    if (width != wide || height != high) {
        if (array) {
            check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); // somebody may read it yet
            check(cudaDestroyTextureObject(texture), "cudaDestroyTextureObject");
            check(cudaFreeArray(array), "cudaFreeArray");
            array = nullptr, wide = high = 0;
        }
        cudaChannelFormatDesc texel = cudaCreateChannelDesc<uchar1>();
        check(cudaMallocArray(&array, &texel, width, height), "cudaMallocArray");
        cudaResourceDesc where{};
        where.resType = cudaResourceTypeArray;
        where.res.array.array = array;
        cudaTextureDesc how{};
        how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
        how.filterMode = cudaFilterModeLinear;
        how.readMode = cudaReadModeNormalizedFloat;
        check(cudaCreateTextureObject(&texture, &where, &how, nullptr), "cudaCreateTextureObject");
        wide = width, high = height;
    }
    check(cudaMemcpy2DToArrayAsync(array, 0, 0, image, width, width, height,
                                   cudaMemcpyDeviceToDevice),
          "cudaMemcpy2DToArrayAsync");
    sample<<<(n - 1) / samplers + 1, samplers>>>(texture, at, out, n);
    check_launch("sample");
}
