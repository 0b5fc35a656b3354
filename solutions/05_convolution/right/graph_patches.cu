// Right: Each call is captured into a graph; a thread computes a patch of 4 x 4 pixels from a
// shared tile with 16-byte loads; kernels for every fourth radius, chosen from a constexpr table.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <array>

// 16 x 16 threads, 4 x 4 pixels each.
constexpr int side = 16, patch = 4, tile_side = side * patch;

// Radii are rounded up to 4, 8, 12 or 16, so that rows of a tile are whole float4s.
template <int R> struct taps_of {
    static constexpr int d = 2 * R + 1;
    float at[d][d];
};
template <int R> struct pair_of {
    float row[2 * R + 1], column[2 * R + 1];
};

template <int R, bool clamped> static __device__ void bring(const float *image, int rows, int cols,
                                                            float (*tile)[tile_side + 2 * R])
{
    constexpr int wide = tile_side + 2 * R;
    const int top = blockIdx.y * tile_side - R, left = blockIdx.x * tile_side - R;
    // Half a warp a row would share sectors with the other half only: a row by 32 neighbours.
    const int t = threadIdx.y * side + threadIdx.x, lane = t % 32;
    for (int y = t / 32; y < wide; y += side * side / 32)
        for (int x = lane; x < wide; x += 32) {
            int r = top + y, c = left + x;
            if (clamped) r = min(max(r, 0), rows - 1), c = min(max(c, 0), cols - 1);
            tile[y][x] =
                clamped || (r >= 0 && r < rows && c >= 0 && c < cols) ? image[r * cols + c] : 0;
        }
}

// Four neighbours and 2 R more, from a place that is a multiple of 16 bytes.
template <int R> static __device__ void load_row(const float *from, float (&row)[patch + 2 * R])
{
#pragma unroll
    for (int k = 0; k < patch + 2 * R; k += 4) {
        const float4 four = *reinterpret_cast<const float4 *>(from + k);
        row[k] = four.x, row[k + 1] = four.y, row[k + 2] = four.z, row[k + 3] = four.w;
    }
}

// By way of the tile, of which nobody needs the pixels any more: lanes that store four neighbours
// each would ask for 16 sectors at a time, and these ask for 4 or 5.
template <int wide> static __device__ void
store(float *out, int rows, int cols, const float (&sums)[patch][patch], float (*tile)[wide])
{
    __syncthreads();
    for (int y = 0; y < patch; ++y)
        for (int x = 0; x < patch; ++x)
            tile[threadIdx.y * patch + y][threadIdx.x * patch + x] = sums[y][x];
    __syncthreads();
    const int t = threadIdx.y * side + threadIdx.x;
    for (int i = t; i < tile_side * tile_side; i += side * side) {
        const int r = blockIdx.y * tile_side + i / tile_side,
                  c = blockIdx.x * tile_side + i % tile_side;
        if (r < rows && c < cols) out[r * cols + c] = tile[i / tile_side][i % tile_side];
    }
}

template <int R, bool clamped> static __global__ void __launch_bounds__(side *side)
    filter(const float *image, float *out, int rows, int cols,
           const __grid_constant__ taps_of<R> taps)
{
    constexpr int d = 2 * R + 1;
    __shared__ __align__(16) float tile[tile_side + 2 * R][tile_side + 2 * R];
    bring<R, clamped>(image, rows, cols, tile);
    __syncthreads();
    float sums[patch][patch] = {}, row[patch + 2 * R];
    for (int y = 0; y < d + patch - 1; ++y) {
        load_row<R>(&tile[threadIdx.y * patch + y][threadIdx.x * patch], row);
#pragma unroll
        for (int k = 0; k < patch; ++k) {
            if (y < k || y - k >= d) continue;
#pragma unroll
            for (int x = 0; x < d; ++x)
#pragma unroll
                for (int p = 0; p < patch; ++p) sums[k][p] += taps.at[y - k][x] * row[x + p];
        }
    }
    store(out, rows, cols, sums, tile);
}

template <int R> static __global__ void __launch_bounds__(side *side)
    filter_product(const float *image, float *out, int rows, int cols,
                   const __grid_constant__ pair_of<R> taps)
{
    constexpr int d = 2 * R + 1, high = tile_side + 2 * R;
    __shared__ __align__(16) float tile[high][high];
    bring<R, false>(image, rows, cols, tile);
    __syncthreads();
    // Along the rows, in place: first all read, a few rows at a time, then all write.
    for (int first = 0; first < high; first += side) {
        const int y = first + threadIdx.y;
        float row[patch + 2 * R], sums[patch] = {};
        if (y < high) {
            load_row<R>(&tile[y][threadIdx.x * patch], row);
#pragma unroll
            for (int x = 0; x < d; ++x)
#pragma unroll
                for (int p = 0; p < patch; ++p) sums[p] += taps.row[x] * row[x + p];
        }
        __syncthreads();
        if (y < high)
            for (int p = 0; p < patch; ++p) tile[y][threadIdx.x * patch + p] = sums[p];
    }
    __syncthreads();
    float sums[patch][patch] = {};
#pragma unroll
    for (int y = 0; y < d + patch - 1; ++y) {
        const float4 four =
            *reinterpret_cast<const float4 *>(&tile[threadIdx.y * patch + y][threadIdx.x * patch]);
#pragma unroll
        for (int k = 0; k < patch; ++k) {
            if (y < k || y - k >= d) continue;
            const float f = taps.column[y - k];
            sums[k][0] += f * four.x, sums[k][1] += f * four.y;
            sums[k][2] += f * four.z, sums[k][3] += f * four.w;
        }
    }
    store(out, rows, cols, sums, tile);
}

class captured_graph {
public:
    template <class Launch> explicit captured_graph(Launch launch)
    {
        cudaStream_t stream;
        cudaGraph_t graph;
        check(cudaStreamCreate(&stream), "stream");
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
        launch(stream);
        check(cudaStreamEndCapture(stream, &graph), "capture");
        check(cudaGraphInstantiate(&work_, graph, 0), "instantiating");
        check(cudaGraphDestroy(graph), "graph");
        check(cudaStreamDestroy(stream), "stream");
    }
    ~captured_graph() { cudaGraphExecDestroy(work_); } // when its work is done
    captured_graph(const captured_graph &) = delete;
    void launch() const { check(cudaGraphLaunch(work_, nullptr), "launching"); }

private:
    cudaGraphExec_t work_ = nullptr;
};

template <class Kernel, class Taps> static void
launch(Kernel kernel, const float *image, float *out, int rows, int cols, const Taps &taps)
{
    const dim3 blocks((cols + tile_side - 1) / tile_side, (rows + tile_side - 1) / tile_side);
    captured_graph([&](cudaStream_t stream) {
        kernel<<<blocks, dim3(side, side), 0, stream>>>(image, out, rows, cols, taps);
        check_launch("filter");
    }).launch();
}

template <int R, bool clamped>
static void run(const float *image, float *out, int rows, int cols, const float *host, int radius)
{
    taps_of<R> taps{};
    const int n = 2 * radius + 1, margin = R - radius;
    for (int y = 0; y < n; ++y) std::copy_n(host + y * n, n, taps.at[y + margin] + margin);
    launch(filter<R, clamped>, image, out, rows, cols, taps);
}
template <int R> static void run_product(const float *image, float *out, int rows, int cols,
                                         const float *row, const float *column, int radius)
{
    pair_of<R> taps{};
    std::copy_n(row, 2 * radius + 1, taps.row + R - radius);
    std::copy_n(column, 2 * radius + 1, taps.column + R - radius);
    launch(filter_product<R>, image, out, rows, cols, taps);
}

template <bool clamped> static void choose(const float *image, float *out, int rows, int cols,
                                           const float *host, int radius)
{
    constexpr std::array versions{run<4, clamped>, run<8, clamped>, run<12, clamped>,
                                  run<16, clamped>};
    if (rows > 0 && cols > 0)
        versions[std::max(radius - 1, 0) / 4](image, out, rows, cols, host, radius);
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

size_t convolve_separable_scratch(int, int, int) { return 0; }
void convolve_separable(const float *image, float *out, int rows, int cols, const float *row,
                        const float *column, int radius, void *)
{
    constexpr std::array versions{run_product<4>, run_product<8>, run_product<12>, run_product<16>};
    if (rows > 0 && cols > 0)
        versions[std::max(radius - 1, 0) / 4](image, out, rows, cols, row, column, radius);
}

constexpr int samplers = 256; // threads per block

template <typename... P, typename... A>
static void launch_ex(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared, A... arguments)
{
    cudaLaunchConfig_t config{.gridDim = grid, .blockDim = block, .dynamicSmemBytes = shared};
    check(cudaLaunchKernelEx(&config, kernel, P(arguments)...), "cudaLaunchKernelEx");
}

static __global__ void sample(cudaTextureObject_t texture, const float2 *at, float *out, int n)
{
    int i = blockIdx.x * samplers + threadIdx.x;
    if (i < n) out[i] = tex2D<float>(texture, at[i].x + 0.5f, at[i].y + 0.5f);
}
static __global__ void sample_plain(const unsigned char *image, int width, int height,
                                    const float2 *at, float *out, int n)
{
    int i = blockIdx.x * samplers + threadIdx.x;
    if (i >= n) return;
    float x = fminf(fmaxf(at[i].x, 0), width - 1), y = fminf(fmaxf(at[i].y, 0), height - 1),
          sum = 0;
    int column = min(int(x), width - 1), row = min(int(y), height - 1);
    for (int r = row; r < min(row + 2, height); ++r)
        for (int c = column; c < min(column + 2, width); ++c)
            sum += image[r * width + c] * (1 - fabsf(x - c)) * (1 - fabsf(y - r));
    out[i] = sum / 255;
}

void sample_bilinear(const unsigned char *image, int width, int height, const float2 *at,
                     float *out, int n)
{
    if (n == 0) return;
    if (width > 131072 || height > 65536)
        return launch_ex(sample_plain, (n - 1) / samplers + 1, samplers, 0, image, width, height,
                         at, out, n);
    cudaArray_t array;
    cudaTextureObject_t texture;
    cudaChannelFormatDesc texel = cudaCreateChannelDesc<unsigned char>();
    check(cudaMalloc3DArray(&array, &texel, make_cudaExtent(width, height, 0)),
          "cudaMalloc3DArray");
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(const_cast<unsigned char *>(image), width, width, height);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(width, height, 1);
    copy.kind = cudaMemcpyDeviceToDevice;
    check(cudaMemcpy3DAsync(&copy), "cudaMemcpy3DAsync");
    cudaResourceDesc where{};
    where.resType = cudaResourceTypeArray;
    where.res.array.array = array;
    cudaTextureDesc how{};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = cudaReadModeNormalizedFloat;
    check(cudaCreateTextureObject(&texture, &where, &how, nullptr), "cudaCreateTextureObject");
    launch_ex(sample, (n - 1) / samplers + 1, samplers, 0, texture, at, out, n);
    check(cudaStreamSynchronize(nullptr), "sample");
    check(cudaDestroyTextureObject(texture), "cudaDestroyTextureObject");
    check(cudaFreeArray(array), "cudaFreeArray");
}
