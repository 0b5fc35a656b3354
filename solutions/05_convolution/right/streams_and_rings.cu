// Right: Bands of the image are filtered in three streams that fork and join by events; blocks walk
// down their strip with a ring of rows in shared memory; the filter is a kernel argument;
// cooperative groups, C++20 concepts.
#include "../check.hpp"
#include "lab.hpp"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <concepts>
#include <stdexcept>
#include <string>
#include <thread>

namespace cg = cooperative_groups;

constexpr int threads = 128, strip = 64, bands = 3; // a thread a column; strip: rows of a block

struct image_of {
    const float *at;
    int rows, cols;
};

template <class B>
concept edge_rule = requires(B beyond, image_of image, int i)
{
    {
        beyond(image, i, i)
        } -> std::same_as<float>;
};
struct zeros {
    __device__ float operator()(image_of i, int r, int c) const
    {
        return r < 0 || r >= i.rows || c < 0 || c >= i.cols ? 0.f : i.at[r * i.cols + c];
    }
};
struct nearest {
    __device__ float operator()(image_of i, int r, int c) const
    {
        return i.at[min(max(r, 0), i.rows - 1) * i.cols + min(max(c, 0), i.cols - 1)];
    }
};

// By value: arguments are copied at the launch, so bands of two calls cannot mix their filters.
template <int R> struct taps_of {
    static constexpr int d = 2 * R + 1;
    float at[d * d];
};

// out's rows [begin, end) of the image. Four rows of the image are brought at a time; the sums of
// the d rows that need them move down through registers.
template <int R, edge_rule B> static __global__ void __launch_bounds__(threads)
    filter(image_of image, float *out, int begin, int end, const __grid_constant__ taps_of<R> taps)
{
    constexpr int d = 2 * R + 1, group = 4;
    __shared__ float ring[2][group][threads + 2 * R];
    const auto block = cg::this_thread_block();
    const int left = blockIdx.x * threads, t = block.thread_rank();
    const int top = begin + blockIdx.y * strip, bottom = min(top + strip, end);
    float sums[d] = {};
    int side = 0;
    for (int first = top - R; first < bottom + R; first += group, side ^= 1) {
        for (int k = 0; k < group; ++k)
            for (int x = t; x < threads + 2 * R; x += threads)
                ring[side][k][x] = B()(image, first + k, left + x - R);
        block.sync(); // one is enough: the next rows go to the other side
        for (int k = 0; k < group; ++k) {
#pragma unroll
            for (int x = 0; x < d; ++x) {
                const float p = ring[side][k][t + x];
#pragma unroll
                for (int y = 0; y < d; ++y) sums[y] = fmaf(taps.at[y * d + x], p, sums[y]);
            }
            const int done = first + k - R;
            if (done >= top && done < bottom && left + t < image.cols)
                out[done * image.cols + left + t] = sums[d - 1];
#pragma unroll
            for (int y = d - 1; y > 0; --y) sums[y] = sums[y - 1];
            sums[0] = 0;
        }
    }
}

template <int R> struct pair_of {
    float row[2 * R + 1], column[2 * R + 1];
};

// The same with a ring of d rows that are already filtered along: each is needed d times.
template <int R> static __global__ void __launch_bounds__(threads)
    filter_product(image_of image, float *out, int begin, int end,
                   const __grid_constant__ pair_of<R> taps)
{
    constexpr int d = 2 * R + 1;
    __shared__ float pixels[2][threads + 2 * R], along[d][threads];
    const auto block = cg::this_thread_block();
    const int left = blockIdx.x * threads, t = block.thread_rank();
    const int top = begin + blockIdx.y * strip, bottom = min(top + strip, end);
    for (int r = top - R, slot = 0; r < bottom + R; ++r, slot = slot + 1 == d ? 0 : slot + 1) {
        float *row = pixels[r & 1];
        for (int x = t; x < threads + 2 * R; x += threads) row[x] = zeros()(image, r, left + x - R);
        block.sync();
        float sum = 0;
#pragma unroll
        for (int x = 0; x < d; ++x) sum += taps.row[x] * row[t + x];
        along[slot][t] = sum; // read by this thread alone
        if (r - R < top || left + t >= image.cols) continue;
        sum = 0; // the oldest row is in the next slot
        for (int y = 0, s = slot; y < d; ++y) {
            s = s + 1 == d ? 0 : s + 1;
            sum += taps.column[y] * along[s][t];
        }
        out[(r - R) * image.cols + left + t] = sum;
    }
}

struct forked_streams {
    cudaStream_t streams[bands] = {};
    cudaEvent_t event = nullptr;
    forked_streams()
    {
        check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "an event");
        check(cudaEventRecord(event), "fork");
        for (auto &s : streams) {
            check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "a stream");
            check(cudaStreamWaitEvent(s, event), "fork");
        }
    }
    void join()
    {
        for (auto s : streams) {
            check(cudaEventRecord(event, s), "join");
            check(cudaStreamWaitEvent(nullptr, event), "join");
        }
    }
    ~forked_streams()
    {
        for (auto s : streams)
            if (s) cudaStreamDestroy(s);
        cudaEventDestroy(event);
    }
    forked_streams(const forked_streams &) = delete;
};

// launch(first row, row beyond, blocks, stream) for each band.
static void in_bands(int rows, int cols, std::invocable<int, int, dim3, cudaStream_t> auto launch)
{
    if (rows == 0 || cols == 0) return;
    forked_streams fork;
    for (int b = 0; b < bands; ++b) {
        const int begin = 1LL * rows * b / bands, end = 1LL * rows * (b + 1) / bands;
        const dim3 blocks((cols + threads - 1) / threads, (end - begin + strip - 1) / strip);
        if (begin < end) launch(begin, end, blocks, fork.streams[b]);
        check_launch("a band");
    }
    fork.join();
}

template <int R, edge_rule B>
static void run(image_of image, float *out, const float *host, int radius)
{
    taps_of<R> taps{};
    const int side = 2 * radius + 1, margin = R - radius;
    for (int y = 0; y < side; ++y)
        std::copy_n(host + y * side, side, taps.at + (y + margin) * taps.d + margin);
    in_bands(image.rows, image.cols, [&](int begin, int end, dim3 blocks, cudaStream_t s) {
        filter<R, B><<<blocks, threads, 0, s>>>(image, out, begin, end, taps);
    });
}

template <edge_rule B> static void choose(image_of image, float *out, const float *host, int radius)
{
    (radius <= 4 ? run<4, B> : radius <= 9 ? run<9, B> : run<16, B>)(image, out, host, radius);
}

void convolve(const float *image, float *out, int rows, int cols, const float *filter_host,
              int radius)
{
    choose<zeros>({image, rows, cols}, out, filter_host, radius);
}
void convolve_clamped(const float *image, float *out, int rows, int cols, const float *filter_host,
                      int radius)
{
    choose<nearest>({image, rows, cols}, out, filter_host, radius);
}

template <int R> static void run_product(image_of image, float *out, const float *row,
                                         const float *column, int radius)
{
    pair_of<R> taps{};
    std::copy_n(row, 2 * radius + 1, taps.row + R - radius);
    std::copy_n(column, 2 * radius + 1, taps.column + R - radius);
    in_bands(image.rows, image.cols, [&](int begin, int end, dim3 blocks, cudaStream_t s) {
        filter_product<R><<<blocks, threads, 0, s>>>(image, out, begin, end, taps);
    });
}

size_t convolve_separable_scratch(int, int, int) { return 0; }
void convolve_separable(const float *image, float *out, int rows, int cols, const float *row,
                        const float *column, int radius, void *)
{
    (radius <= 8 ? run_product<8> : run_product<16>)({image, rows, cols}, out, row, column, radius);
}

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (cudaError_t error = (call))                                                            \
            throw std::runtime_error(std::string(#call) + ": " + cudaGetErrorString(error));       \
    } while (false)

constexpr int samplers = 192; // threads per block

static int sampler_blocks(int n) { return (n - 1) / samplers + 1; }
static __device__ int sampler_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Blocking streams, which wait for the default stream, and for which it waits.
static cudaStream_t sampler_stream(int which)
{
    static cudaStream_t streams[2];
    if (!streams[which]) TRY(cudaStreamCreate(&streams[which]));
    return streams[which];
}

static __global__ void sample(cudaTextureObject_t texture, const float2 *at, float *out, int n)
{
    if (sampler_number() < n)
        out[sampler_number()] =
            tex2D<float>(texture, at[sampler_number()].x + .5f, at[sampler_number()].y + .5f);
}

static __global__ void sample_loads(const unsigned char *image, int width, int height,
                                    const float2 *at, float *out, int n)
{
    if (sampler_number() >= n) return;
    float x = fmaxf(0, fminf(at[sampler_number()].x, width - 1)),
          y = fmaxf(0, fminf(at[sampler_number()].y, height - 1));
    int l = min((int)x, width - 1), t = min((int)y, height - 1);
    int r = min(l + 1, width - 1), b = min(t + 1, height - 1);
    const unsigned char *top = image + t * width, *bottom = image + b * width;
    float upper = top[l] + (x - l) * (top[r] - top[l]);
    float lower = bottom[l] + (x - l) * (bottom[r] - bottom[l]);
    out[sampler_number()] = (upper + (y - t) * (lower - upper)) / 255;
}

void sample_bilinear(const unsigned char *image, int width, int height, const float2 *at,
                     float *out, int n)
{
    if (n == 0) return;
    if (width > 131072 || height > 65536) { // no array is as large
        sample_loads<<<sampler_blocks(n), samplers>>>(image, width, height, at, out, n);
        TRY(cudaPeekAtLastError());
        return;
    }
    cudaResourceDesc where = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    cudaChannelFormatDesc texel = {8, 0, 0, 0, cudaChannelFormatKindUnsigned};
    where.resType = cudaResourceTypeArray;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = cudaReadModeNormalizedFloat;
    TRY(cudaMallocArray(&where.res.array.array, &texel, width, height));
    TRY(cudaMemcpy2DToArray(where.res.array.array, 0, 0, image, width, width, height,
                            cudaMemcpyDefault));
    TRY(cudaCreateTextureObject(&texture, &where, &how, nullptr));
    // Two host threads launch a half each, in streams of their own.
    cudaStream_t streams[2] = {sampler_stream(0), sampler_stream(1)};
    cudaError_t errors[2] = {};
    auto half = [&](int h) {
        int from = h ? n / 2 : 0, to = h ? n : n / 2;
        if (from < to)
            sample<<<sampler_blocks(to - from), samplers, 0, streams[h]>>>(texture, at + from,
                                                                           out + from, to - from);
        errors[h] = cudaGetLastError();
        if (!errors[h]) errors[h] = cudaStreamSynchronize(streams[h]);
    };
    std::thread other(half, 1);
    half(0);
    other.join();
    TRY(cudaDestroyTextureObject(texture));
    TRY(cudaFreeArray(where.res.array.array));
    TRY(errors[0]);
    TRY(errors[1]);
}
