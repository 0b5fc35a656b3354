// Right: One kernel for every radius: a tile of dynamic shared memory whose size follows the radius
// known at run time, constant memory with the host's copy ordered by the stream, and a thread that
// adds up eight rows in registers; 64 x 4 threads.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int cols_per_block = 64, rows_per_block = 32, block_rows = 4,
              threads = cols_per_block * block_rows;
constexpr int rows_per_thread = rows_per_block / block_rows, most = 33;

static __constant__ float taps[most * most], row_taps[most], column_taps[most];

// Brings the block's pixels and `radius` more on each side.
template <bool clamped>
static __device__ void bring(const float *image, int rows, int cols, int radius, float *tile)
{
    const int high = rows_per_block + 2 * radius, wide = cols_per_block + 2 * radius;
    const int top = blockIdx.y * rows_per_block - radius,
              left = blockIdx.x * cols_per_block - radius;
    for (int y = threadIdx.y; y < high; y += block_rows)
        for (int x = threadIdx.x; x < wide; x += cols_per_block) {
            int r = top + y, c = left + x;
            if (clamped) {
                r = min(max(r, 0), rows - 1);
                c = min(max(c, 0), cols - 1);
            }
            const bool there = clamped || (unsigned(r) < rows && unsigned(c) < cols);
            tile[y * wide + x] = there ? image[r * cols + c] : 0;
        }
}

static __device__ void store(float *out, int rows, int cols, const float (&sums)[rows_per_thread])
{
    const int c = blockIdx.x * cols_per_block + threadIdx.x;
    const int first = blockIdx.y * rows_per_block + threadIdx.y * rows_per_thread;
#pragma unroll
    for (int k = 0; k < rows_per_thread; ++k)
        if (c < cols && first + k < rows) out[(first + k) * cols + c] = sums[k];
}

// Adds factor(y) times what is y below, for eight rows below each other: each is loaded once for
// all of them and stays in a window of registers that moves down.
template <class Factor> static __device__ void
add_column(const float *column, int step, int d, Factor factor, float (&sums)[rows_per_thread])
{
    float window[rows_per_thread];
#pragma unroll
    for (int k = 0; k < rows_per_thread - 1; ++k) window[k + 1] = column[k * step];
    for (int y = 0; y < d; ++y) {
#pragma unroll
        for (int k = 0; k < rows_per_thread - 1; ++k) window[k] = window[k + 1];
        window[rows_per_thread - 1] = column[(y + rows_per_thread - 1) * step];
#pragma unroll
        for (int k = 0; k < rows_per_thread; ++k) sums[k] += factor(y) * window[k];
    }
}

extern __shared__ float tile[];

template <bool clamped> static __global__ void __launch_bounds__(threads)
    filter(const float *image, float *out, int rows, int cols, int radius)
{
    const int d = 2 * radius + 1, wide = cols_per_block + 2 * radius;
    bring<clamped>(image, rows, cols, radius, tile);
    __syncthreads();
    float sums[rows_per_thread] = {};
    const float *mine = tile + threadIdx.y * rows_per_thread * wide + threadIdx.x;
    for (int x = 0; x < d; ++x)
        add_column(
            mine + x, wide, d, [=](int y) { return taps[y * d + x]; }, sums);
    store(out, rows, cols, sums);
}

static __global__ void __launch_bounds__(threads)
    filter_product(const float *image, float *out, int rows, int cols, int radius)
{
    const int d = 2 * radius + 1, high = rows_per_block + 2 * radius,
              wide = cols_per_block + 2 * radius;
    float *between = tile + high * wide; // filtered along the rows: high x cols_per_block
    bring<false>(image, rows, cols, radius, tile);
    __syncthreads();
    for (int y = threadIdx.y; y < high; y += block_rows) {
        float sum = 0;
        for (int x = 0; x < d; ++x) sum += row_taps[x] * tile[y * wide + threadIdx.x + x];
        between[y * cols_per_block + threadIdx.x] = sum;
    }
    __syncthreads();
    float sums[rows_per_thread] = {};
    add_column(
        between + threadIdx.y * rows_per_thread * cols_per_block + threadIdx.x, cols_per_block, d,
        [](int y) { return column_taps[y]; }, sums);
    store(out, rows, cols, sums);
}

constexpr dim3 block(cols_per_block, block_rows);
static dim3 blocks_for(int rows, int cols)
{
    return dim3((cols + cols_per_block - 1) / cols_per_block,
                (rows + rows_per_block - 1) / rows_per_block);
}
static size_t shared_for(int radius, int extra)
{
    return sizeof(float) * (rows_per_block + 2 * radius) * (cols_per_block + 2 * radius + extra);
}

template <bool clamped> static void run(const float *image, float *out, int rows, int cols,
                                        const float *filter_host, int radius)
{
    if (rows == 0 || cols == 0) return;
    const int d = 2 * radius + 1;
    check(cudaMemcpyToSymbol(taps, filter_host, sizeof(float) * d * d), "the filter");
    filter<clamped>
        <<<blocks_for(rows, cols), block, shared_for(radius, 0)>>>(image, out, rows, cols, radius);
    check_launch("filter");
}

void convolve(const float *image, float *out, int rows, int cols, const float *f, int radius)
{
    run<false>(image, out, rows, cols, f, radius);
}
void convolve_clamped(const float *image, float *out, int rows, int cols, const float *f,
                      int radius)
{
    run<true>(image, out, rows, cols, f, radius);
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
    filter_product<<<blocks_for(rows, cols), block, shared_for(radius, cols_per_block)>>>(
        image, out, rows, cols, radius);
    check_launch("filter_product");
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
