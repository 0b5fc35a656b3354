// Lab 05, solution: a block walks down a strip of the image, and every row it brings to shared
// memory is added at once to all the rows of `out` that need it.
//
// A thread computes four neighbours in a row. Of these, and of as many rows as the filter has, it
// keeps the sums in registers; with each row of the image one of them is complete and another
// begins. So a pixel is read from global memory once and from shared memory once for each thread
// that needs it, and nothing is written but `out`: filters that are products are done in one pass.
//
// The filter is an argument of the kernel, and kernel arguments lie in constant memory: where an
// index is known at compile time, no thread loads a factor. Some radii are compiled; a filter
// between two of them is framed with zeros.
//
// From the rungs: the texture of sample_bilinear (1), known radii (2), several pixels per thread
// (4), one pass (6). New: strips in place of tiles, and rows that are in flight while others are
// added up. Before compute capability 8.0 the copies are synchronous, through registers.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

constexpr int block_size = 128;
constexpr int pixels_per_thread = 4; // side by side: a thread brings and computes them
// Columns that a block brings; it computes all but the halo.
constexpr int wide = block_size * pixels_per_thread;
constexpr unsigned ring = 8; // rows in shared memory: one is used, the others come
constexpr int max_radius = 16;

struct job {
    const float *image;
    float *out;
    int rows, cols, rows_per_block;
    bool clamped, by_float4; // by_float4: every row begins at a multiple of 16 bytes
};

static __device__ int within(int i, int n) { return min(max(i, 0), n - 1); }

// A thread's share of the rows that a block brings, from column `left` on: four pixels of each,
// side by side where a copy can take four; zeros beyond the image, or its nearest pixels.
class row_loader {
public:
    __device__ row_loader(const job &j, int left) : j_(j), left_(left)
    {
        int c = left + first(); // four pixels are all in the image or all beyond it
        inside_ = c >= 0 && c < j.cols;
        by_four_ = j.by_float4 && (inside_ || !j.clamped);
        column_ = j.image + (by_four_ && inside_ ? c : 0);
    }

    __device__ void start(float *to, int row) const
    {
        size_t at = size_t(unsigned(within(row, j_.rows))) * unsigned(j_.cols);
        bool there = j_.clamped || (row >= 0 && row < j_.rows);
        if (by_four_) {
            __pipeline_memcpy_async(to + first(), column_ + at, 16, there && inside_ ? 0 : 16);
            return;
        }
        for (int k = 0; k < pixels_per_thread; ++k) {
            int i = first() + k * (j_.by_float4 ? 1 : block_size), c = left_ + i;
            bool zero = !there || (!j_.clamped && (c < 0 || c >= j_.cols));
            __pipeline_memcpy_async(to + i, column_ + at + within(c, j_.cols), 4, zero ? 4 : 0);
        }
    }

private:
    __device__ int first() const { return threadIdx.x * (j_.by_float4 ? pixels_per_thread : 1); }

    const job &j_;
    const float *column_;
    int left_;
    bool inside_, by_four_;
};

static __device__ void store(const job &j, int row, int col, const float (&v)[pixels_per_thread])
{
    float *to = j.out + size_t(row) * j.cols + col;
    if (j.by_float4 && col < j.cols)
        *reinterpret_cast<float4 *>(to) = {v[0], v[1], v[2], v[3]};
    else
        for (int p = 0; p < pixels_per_thread; ++p)
            if (col + p < j.cols) to[p] = v[p];
}

// A filter, and what it makes of one row of the image: `x` are the pixels that a thread's four sums
// need of it, and add(sum, y, p) adds what row y of the filter gives pixel p.
template <int R> struct table {
    float tap[2 * R + 1][2 * R + 1];
    struct of_row { // nothing to prepare
        const table &f;
        const float *x;
        __device__ float add(float sum, int y, int p) const
        {
            for (int k = 0; k <= 2 * R; ++k) sum += f.tap[y][k] * x[p + k];
            return sum;
        }
    };
    __device__ of_row prepare(const float *x) const { return {*this, x}; }
};
template <int R> struct product {
    float row[2 * R + 1], column[2 * R + 1];
    struct of_row { // filtered along the row already
        const product &f;
        float along[pixels_per_thread];
        __device__ float add(float sum, int y, int p) const { return sum + f.column[y] * along[p]; }
    };
    __device__ of_row prepare(const float *x) const
    {
        of_row r{*this, {}};
        for (int p = 0; p < pixels_per_thread; ++p)
            for (int k = 0; k <= 2 * R; ++k) r.along[p] += row[k] * x[p + k];
        return r;
    }
};

// A filter's pixels to the left and to the right, so many that a thread's begin at a float4.
template <int R> constexpr int halo_of = (R + 3) / 4 * 4;
template <int R> constexpr int strip_of = wide - 2 * halo_of<R>; // columns that a block computes

template <int R, class F> static __global__ void __launch_bounds__(block_size, R <= 8 ? 4 : 2)
    filter_strip(const job j, const F filter)
{
    constexpr int halo = halo_of<R>, strip = strip_of<R>;
    __shared__ __align__(16) float rows[ring][wide];
    int left = blockIdx.x * strip, mine = threadIdx.x * pixels_per_thread;
    bool only_brings = mine >= strip || left + mine >= j.cols; // the halo, or what lies beyond
    int first = blockIdx.y * j.rows_per_block, last = min(first + j.rows_per_block, j.rows);
    auto place = [&](int row) { return rows[unsigned(row - first + R) % ring]; };
    row_loader next(j, left - halo);
    auto start = [&](int row) {
        if (row < last + R) next.start(place(row), row);
        __pipeline_commit(); // of nothing too, so that the commits count the rows
    };
#pragma unroll 1
    for (int k = 0; k < int(ring) - 1; ++k) start(first - R + k);

    float sums[2 * R + 1][pixels_per_thread] = {}; // of the rows i - R to i + R of `out`
    for (int i = first - R; i < last + R; ++i) {
        __pipeline_wait_prior(ring - 2); // row i is there as far as this thread brought it
        __syncthreads();                 // and whole; and nobody needs row i - 1 any more
        start(i + int(ring) - 1);
        if (only_brings) continue;
        alignas(16) float x[pixels_per_thread + 2 * halo];
        for (int k = 0; k < pixels_per_thread + 2 * halo; k += 4)
            *reinterpret_cast<float4 *>(x + k) =
                *reinterpret_cast<const float4 *>(place(i) + mine + k);
        auto of_row = filter.prepare(x + halo - R);
#pragma unroll
        for (int y = 2 * R; y >= 0; --y) // each sum moves one place on while it is added to
            for (int p = 0; p < pixels_per_thread; ++p)
                sums[2 * R - y][p] = of_row.add(y > 0 ? sums[2 * R - y + 1][p] : 0, y, p);
        if (i - R >= first) store(j, i - R, left + mine, sums[0]);
    }
}

// As many blocks as run at a time, each with as long a strip as that makes: where strips meet,
// 2 R rows are read twice.
template <int R, class F> static void launch(job j, const F &filter)
{
    int device = 0, sms = 0, resident = 0, strips = (j.cols + strip_of<R> - 1) / strip_of<R>;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device),
          "asking for the SMs");
    check(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, filter_strip<R, F>, block_size, 0),
        "asking for the occupancy");
    int pieces = min(max(sms * resident / strips, 1), (j.rows + 8 * R - 1) / (8 * R));
    j.rows_per_block = (j.rows + pieces - 1) / pieces;
    dim3 grid(strips, (j.rows + j.rows_per_block - 1) / j.rows_per_block);
    filter_strip<R, F><<<grid, block_size>>>(j, filter);
    check_launch("filter_strip");
}

static bool at_float4(const void *p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

static job job_for(const float *image, float *out, int rows, int cols, bool clamped)
{
    return {
        image, out, rows, cols, 0, clamped, cols % 4 == 0 && at_float4(image) && at_float4(out)};
}

template <int R> static void launch_table(const job &j, const float *filter_host, int radius)
{
    table<R> filter{};
    for (int y = 0, d = 2 * radius + 1; y < d; ++y)
        std::memcpy(&filter.tap[y + R - radius][R - radius], filter_host + y * d,
                    d * sizeof(float));
    launch<R>(j, filter);
}

template <int R> static void launch_product(const job &j, const float *row_filter_host,
                                            const float *column_filter_host, int radius)
{
    product<R> filter{};
    std::memcpy(&filter.row[R - radius], row_filter_host, (2 * radius + 1) * sizeof(float));
    std::memcpy(&filter.column[R - radius], column_filter_host, (2 * radius + 1) * sizeof(float));
    launch<R>(j, filter);
}

// Filters so large that their multiply-adds, written out, would take longer to fetch than to do:
// a loop with the radius it is given. A thread computes four pixels below each other; each pixel
// it takes from shared memory, and each factor, serves all four.
constexpr int side = 32, tall = 4, padded = side + 2 * max_radius + 1;
static __constant__ float taps[(2 * max_radius + 1 + tall - 1) * (2 * max_radius + 1)];

static __global__ void filter_tile(const job j, int radius)
{
    __shared__ float tile[side + 2 * max_radius][padded];
    int d = 2 * radius + 1, top = blockIdx.y * side, left = blockIdx.x * side;
    for (int y = threadIdx.y; y < side + 2 * radius; y += side / tall)
        for (int x = threadIdx.x; x < side + 2 * radius; x += side) {
            int r = top + y - radius, c = left + x - radius;
            int row = within(r, j.rows), col = within(c, j.cols);
            bool there = j.clamped || (r == row && c == col);
            tile[y][x] = there ? j.image[size_t(row) * j.cols + col] : 0;
        }
    __syncthreads();
    float sums[tall] = {};
    int mine = threadIdx.y * tall;
    for (int x = 0; x < d; ++x) {
        float factor[tall] = {}; // of the filter's rows y, y - 1, ...; zeros above and below
        for (int y = 0; y < d + tall - 1; ++y) {
            for (int k = tall - 1; k > 0; --k) factor[k] = factor[k - 1];
            factor[0] = taps[y * d + x];
            float pixel = tile[mine + y][threadIdx.x + x];
            for (int k = 0; k < tall; ++k) sums[k] += factor[k] * pixel;
        }
    }
    for (int k = 0; k < tall; ++k) {
        int row = top + mine + k, col = left + threadIdx.x;
        if (row < j.rows && col < j.cols) j.out[size_t(row) * j.cols + col] = sums[k];
    }
}

static void launch_tile(const job &j, const float *filter_host, int radius)
{
    int d = 2 * radius + 1;
    float framed[sizeof taps / sizeof(float)] = {};
    std::memcpy(framed, filter_host, d * d * sizeof(float));
    check(cudaMemcpyToSymbol(taps, framed, sizeof framed), "copying the filter");
    dim3 grid((j.cols + side - 1) / side, (j.rows + side - 1) / side);
    filter_tile<<<grid, dim3(side, side / tall)>>>(j, radius);
    check_launch("filter_tile");
}

static void filter(const job &j, const float *filter_host, int radius)
{
    if (j.rows == 0 || j.cols == 0) return;
    if (radius <= 2) return launch_table<2>(j, filter_host, radius);
    if (radius <= 4) return launch_table<4>(j, filter_host, radius);
    if (radius <= 8) return launch_table<8>(j, filter_host, radius);
    launch_tile(j, filter_host, radius);
}

void convolve(const float *image, float *out, int rows, int cols, const float *filter_host,
              int radius)
{
    filter(job_for(image, out, rows, cols, false), filter_host, radius);
}

void convolve_clamped(const float *image, float *out, int rows, int cols, const float *filter_host,
                      int radius)
{
    filter(job_for(image, out, rows, cols, true), filter_host, radius);
}

size_t convolve_separable_scratch(int, int, int) { return 0; }

void convolve_separable(const float *image, float *out, int rows, int cols,
                        const float *row_filter_host, const float *column_filter_host, int radius,
                        void *)
{
    if (rows == 0 || cols == 0) return;
    job j = job_for(image, out, rows, cols, false);
    if (radius <= 4) return launch_product<4>(j, row_filter_host, column_filter_host, radius);
    if (radius <= 8) return launch_product<8>(j, row_filter_host, column_filter_host, radius);
    launch_product<16>(j, row_filter_host, column_filter_host, radius);
}

constexpr int samplers = 256; // threads per block

static __global__ void sample(cudaTextureObject_t texture, const float2 *at, float *out, int n)
{
    int i = blockIdx.x * samplers + threadIdx.x;
    // To the texture unit the centre of the first texel is at 0.5.
    if (i < n) out[i] = tex2D<float>(texture, at[i].x + 0.5f, at[i].y + 0.5f);
}

void sample_bilinear(const unsigned char *image, int width, int height, const float2 *at,
                     float *out, int n)
{
    if (n == 0) return;
    cudaChannelFormatDesc texel = cudaCreateChannelDesc<unsigned char>();
    cudaResourceDesc memory{};
    memory.resType = cudaResourceTypeArray;
    check(cudaMallocArray(&memory.res.array.array, &texel, width, height), "cudaMallocArray");
    check(cudaMemcpy2DToArrayAsync(memory.res.array.array, 0, 0, image, width, width, height,
                                   cudaMemcpyDeviceToDevice),
          "cudaMemcpy2DToArrayAsync");
    cudaTextureDesc how{};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = cudaReadModeNormalizedFloat;
    cudaTextureObject_t texture = 0;
    check(cudaCreateTextureObject(&texture, &memory, &how, nullptr), "cudaCreateTextureObject");
    sample<<<(n - 1) / samplers + 1, samplers>>>(texture, at, out, n);
    check(cudaDeviceSynchronize(), "sample"); // the texture must outlive it
    check(cudaDestroyTextureObject(texture), "cudaDestroyTextureObject");
    check(cudaFreeArray(memory.res.array.array), "cudaFreeArray");
}
