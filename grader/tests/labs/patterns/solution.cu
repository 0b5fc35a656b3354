// A kernel a pattern. Each line loads once and stores once at most, since sites are told by lines.
#include "lab.hpp"

static __device__ int index() { return blockIdx.x * blockDim.x + threadIdx.x; }

template <int from, int to> static __device__ void stride(const float *x, float *y)
{
    int i = index();
    if (i < patterned) y[to * i % patterned] = x[from * i % patterned];
}

static __global__ void load_stride_2_store_3(const float *x, float *y) { stride<2, 3>(x, y); }

static __global__ void load_stride_33_store_2(const float *x, float *y) { stride<33, 2>(x, y); }

static __global__ void load_stride_3_store_33(const float *x, float *y) { stride<3, 33>(x, y); }

static __global__ void load_offset_1_store_8(const float *x, float *y)
{
    int i = index();
    if (i < patterned) y[i + 8] = x[i + 1];
}

static __global__ void load_offset_8_store_1(const float *x, float *y)
{
    int i = index();
    if (i < patterned) y[i + 1] = x[i + 8];
}

static __global__ void load_reversed(const float *x, float *y)
{
    int i = index();
    if (i < patterned) y[i] = x[patterned - 1 - i];
}

static __global__ void load_and_store_at_random(const float *x, const int *places, float *y)
{
    int i = index();
    if (i >= patterned) return;
    int to = places[i];
    int from = places[patterned - 1 - i];
    y[to] = x[from];
}

static __global__ void load_broadcast(const float *x, float *y)
{
    int i = index();
    if (i < patterned) y[i] = x[i / 32];
}

static __global__ void half_warps_apart(const float *x, float *y)
{
    int i = index(), within = i / 32 * 16 + i % 16, upper = i / 16 % 2;
    if (i < patterned) y[within + 1040 * upper] = x[within + 1001 * upper];
}

static __global__ void odd_lanes_off(const float *x, float *y)
{
    int i = index();
    if (i < patterned && i % 2 == 0) y[i] = x[i];
}

static __global__ void copy_bytes(const unsigned char *x, unsigned char *y)
{
    int i = index();
    if (i < patterned) y[i] = x[i + 20];
}

static __global__ void copy_doubles(const double *x, double *y)
{
    int i = index();
    if (i < patterned) y[i + 4] = x[i + 1];
}

static __global__ void copy_pairs(const float2 *x, float2 *y)
{
    int i = index();
    if (i < patterned / 2) y[i + 1] = x[i];
}

static __global__ void copy_quads(const float4 *x, float4 *y)
{
    int i = index();
    if (i < patterned / 4) y[i + 1] = x[i];
}

static __global__ void transpose_by_strided_stores(const float *x, float *y)
{
    int i = index(), row = i / matrix_cols, col = i % matrix_cols;
    if (row < matrix_rows) y[col * matrix_rows + row] = x[i];
}

// Blocks of 32 x 8 threads, a tile of 32 x 32 each.
template <int width> static __device__ void transpose_tile(const float *x, float *y)
{
    __shared__ float tile[32][width];
    int across = blockIdx.x * 32, down = blockIdx.y * 32, lane = threadIdx.x;
    for (int r = threadIdx.y; r < 32; r += 8)
        if (down + r < matrix_rows && across + lane < matrix_cols)
            tile[r][lane] = x[(down + r) * matrix_cols + across + lane];
    __syncthreads();
    for (int r = threadIdx.y; r < 32; r += 8)
        if (across + r < matrix_cols && down + lane < matrix_rows)
            y[(across + r) * matrix_rows + down + lane] = tile[lane][r];
}

static __global__ void transpose_tiles(const float *x, float *y) { transpose_tile<32>(x, y); }

static __global__ void transpose_padded_tiles(const float *x, float *y)
{
    transpose_tile<33>(x, y);
}

static __global__ void reverse_pairs_in_shared(const float2 *x, float2 *y)
{
    __shared__ float2 held[pattern_block];
    int i = index(), t = threadIdx.x, here = min(pattern_block, patterned / 2 - (i - t));
    if (t < here) held[t] = x[i];
    __syncthreads();
    if (t < here) y[i] = held[here - 1 - t];
}

static int blocks(int threads) { return (threads + pattern_block - 1) / pattern_block; }

void touch(const float *x, const int *places, const double *wide, float *y, double *wide_out)
{
    cudaMemsetAsync(y, 0, sizeof(float) * pattern_rows * row_length);
    cudaMemsetAsync(wide_out, 0, sizeof(double) * row_length);
    auto row = [y](pattern_row which) { return y + which * row_length; };
    constexpr int block = pattern_block;
    int all = blocks(patterned), halves = blocks(patterned / 2), quarters = blocks(patterned / 4);
    load_stride_2_store_3<<<all, block>>>(x, row(strides_2_to_3));
    load_stride_33_store_2<<<all, block>>>(x, row(strides_33_to_2));
    load_stride_3_store_33<<<all, block>>>(x, row(strides_3_to_33));
    load_offset_1_store_8<<<all, block>>>(x, row(offsets_1_to_8));
    load_offset_8_store_1<<<all, block>>>(x, row(offsets_8_to_1));
    load_reversed<<<all, block>>>(x, row(reversed));
    load_and_store_at_random<<<all, block>>>(x, places, row(at_random));
    load_broadcast<<<all, block>>>(x, row(broadcast));
    half_warps_apart<<<all, block>>>(x, row(two_places));
    odd_lanes_off<<<all, block>>>(x, row(even_lanes));
    copy_bytes<<<all, block>>>(reinterpret_cast<const unsigned char *>(x),
                               reinterpret_cast<unsigned char *>(row(single_bytes)));
    copy_doubles<<<all, block>>>(wide, wide_out);
    auto x2 = reinterpret_cast<const float2 *>(x);
    auto x4 = reinterpret_cast<const float4 *>(x);
    copy_pairs<<<halves, block>>>(x2, reinterpret_cast<float2 *>(row(pairs)));
    copy_quads<<<quarters, block>>>(x4, reinterpret_cast<float4 *>(row(quads)));
    transpose_by_strided_stores<<<all, block>>>(x, row(transpose_strided));
    dim3 tiles((matrix_cols + 31) / 32, (matrix_rows + 31) / 32), threads(32, 8);
    transpose_tiles<<<tiles, threads>>>(x, row(transpose_unpadded));
    transpose_padded_tiles<<<tiles, threads>>>(x, row(transpose_padded));
    reverse_pairs_in_shared<<<halves, block>>>(x2,
                                               reinterpret_cast<float2 *>(row(pairs_in_shared)));
}
