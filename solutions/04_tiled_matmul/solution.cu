// Lab 04, worked: a block computes 128 x 128 elements, a thread 8 x 8 of them in registers, while
// the next slices of A and B are loaded from global memory.
//
// A thread needs two floats per step for one sum, but only 16 for 64 sums, read from shared memory
// as four float4. With that ratio, 4 multiply-adds per float, the multiply-adds and not the loads
// are the bottleneck.
//
// From the rungs: the next slices in registers, and two buffers (3); a square per thread, A
// transposed (5); 16 bytes at a time where rows allow it (6). New: a mapping of lanes to elements
// with which shared memory serves more lanes at once, another for loading, and results stored as
// float4.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <cstdint>

constexpr int tile = 128;       // rows and columns of C that a block computes
constexpr int depth = 8;        // terms of every sum that one step loads
constexpr int block_size = 256; // 4 x 2 warps, each 32 rows x 64 columns
constexpr int own = 8;          // a thread's rows, and columns, in two groups of 4

// The slices that a step multiplies. A is transposed, so that the rows a thread needs are
// neighbours. Four floats of padding per row keep float4 aligned and the stores of a warp in
// different banks.
struct slices {
    float a[depth][tile + 4], b[depth][tile + 4];
};

// The matrices and their sizes. `width`, 4 or 1 below, is how many floats can
// be moved at once: 4 where every row starts at a multiple of 16 bytes.
struct operands {
    const float *A, *B;
    float *C;
    float alpha, beta;
    int j, k, l;
};

template <int width> static __device__ void move(float *to, const float *from)
{
    if constexpr (width == 4)
        *reinterpret_cast<float4 *>(to) = *reinterpret_cast<const float4 *>(from);
    else
        *to = *from;
}

// A thread's share of the slices, copied from global to shared memory: `pieces` times `width`
// neighbours in a row of A, and the same of B. The block's top left element of C is (top, left).
template <int width> class tile_loader {
public:
    __device__ tile_loader(const operands &o, int top, int left)
        : length_of_b_(o.l), remaining_(o.k)
    {
        // A warp takes 4 * width rows of A: whole sectors there, and different banks of slices::a.
        int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        a_row_ = warp * 4 * width + lane % (4 * width), a_term_ = lane / (4 * width) * width;
        b_term_ = threadIdx.x * width / tile, b_col_ = threadIdx.x * width % tile;
        // Beyond the edges of C the last row or column is repeated: none of those sums is stored.
        for (int n = 0; n < pieces; ++n)
            from_a_[n] = o.A + min(top + a_row_ + n * rows_on, o.j - 1) * o.k + a_term_;
        from_b_ = o.B + b_term_ * o.l + min(left + b_col_, o.l - width);
    }

    // The next slices; zeros beyond the last term, which add nothing to any sum.
    __device__ void fetch()
    {
#pragma unroll
        for (int n = 0; n < pieces; ++n) {
            for (int i = 0; i < width; ++i) a_[n][i] = b_[n][i] = 0;
            if (a_term_ < remaining_) move<width>(a_[n], from_a_[n]);
            if (b_term_ + n * terms_on < remaining_)
                move<width>(b_[n], from_b_ + n * terms_on * length_of_b_);
            from_a_[n] += depth;
        }
        from_b_ += depth * length_of_b_;
        remaining_ -= depth;
    }

    __device__ void put(slices &s) const
    {
#pragma unroll
        for (int n = 0; n < pieces; ++n) {
            for (int i = 0; i < width; ++i) s.a[a_term_ + i][a_row_ + n * rows_on] = a_[n][i];
            move<width>(&s.b[b_term_ + n * terms_on][b_col_], b_[n]);
        }
    }

private:
    static constexpr int pieces = tile * depth / block_size / width;
    static constexpr int rows_on = tile / pieces, terms_on = depth / pieces; // from piece to piece

    alignas(16) float a_[pieces][width], b_[pieces][width];
    int a_row_, a_term_, b_term_, b_col_; // of the first pieces, in the slices
    const float *from_a_[pieces], *from_b_;
    int length_of_b_, remaining_; // the length of a row, and terms not yet fetched
};

// The position of a thread's n-th row or column, counted from `first`: 4 together, then 4 more
// beyond those of its warp's other lanes. So the lanes' float4 are neighbours.
static __device__ int of_thread(int first, int n, int lanes)
{
    return first + n / 4 * 4 * lanes + n % 4;
}

static __device__ void multiply(const slices &s, int row, int col, float (&sums)[own][own])
{
#pragma unroll
    for (int i = 0; i < depth; ++i) {
        alignas(16) float a[own], b[own];
        for (int n = 0; n < own; n += 4) {
            move<4>(&a[n], &s.a[i][of_thread(row, n, 4)]);
            move<4>(&b[n], &s.b[i][of_thread(col, n, 8)]);
        }
        for (int y = 0; y < own; ++y)
            for (int x = 0; x < own; ++x) sums[y][x] += a[y] * b[x];
    }
}

template <int width>
static __device__ void store(const operands &o, int row, int col, const float (&sums)[own][own])
{
    for (int y = 0; y < own; ++y)
        for (int x = 0; x < own; x += width) {
            int r = blockIdx.y * tile + of_thread(row, y, 4);
            int c = blockIdx.x * tile + of_thread(col, x, 8);
            if (r >= o.j || c >= o.l) continue;
            alignas(16) float result[width], old[width];
            if (o.beta != 0) move<width>(old, &o.C[r * o.l + c]);
            for (int i = 0; i < width; ++i) {
                result[i] = o.alpha * sums[y][x + i];
                if (o.beta != 0) result[i] += o.beta * old[i];
            }
            move<width>(&o.C[r * o.l + c], result);
        }
}

template <int width> static __global__ void __launch_bounds__(block_size, 2)
    multiply_tiles(const operands o)
{
    __shared__ __align__(16) slices buffers[2];
    // Shared memory serves float4 to 16 lanes at once, not 8, when lanes that differ in bit 0, or
    // in bit 1, ask for the same: bit 0 picks a column only and bit 1 a row.
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int row = warp / 2 * 32 + (lane / 16 * 2 + lane / 2 % 2) * 4;
    int col = warp % 2 * 64 + (lane / 4 % 4 * 2 + lane % 2) * 4;
    float sums[own][own] = {};

    tile_loader<width> next(o, blockIdx.y * tile, blockIdx.x * tile);
    next.fetch();
    next.put(buffers[0]);
    __syncthreads();
    for (int first = 0, now = 0; first < o.k; first += depth, now = 1 - now) {
        // Loads first, multiply-adds next, stores last: the loads have all that time to arrive. In
        // the last step they load zeros that are never read; if an `if` around each left them out
        // there, the compiler might move the loads behind the multiply-adds.
        next.fetch();
        multiply(buffers[now], row, col, sums);
        next.put(buffers[1 - now]);
        // One barrier per step: no thread reads the new slices before they are complete, and none
        // overwrites the old ones, one step later, before all have multiplied them.
        __syncthreads();
    }
    store<width>(o, row, col, sums);
}

static bool starts_at_float4(const float *p)
{
    return reinterpret_cast<std::uintptr_t>(p) % 16 == 0;
}

void sgemm(float alpha, const float *A, const float *B, float beta, float *C, int j, int k, int l)
{
    if (j == 0 || l == 0) return;
    bool by_float4 = k % 4 == 0 && l % 4 == 0 && starts_at_float4(A) && starts_at_float4(B) &&
                     starts_at_float4(C);
    dim3 grid((l + tile - 1) / tile, (j + tile - 1) / tile);
    operands o{A, B, C, alpha, beta, j, k, l};
    if (by_float4)
        multiply_tiles<4><<<grid, block_size>>>(o);
    else
        multiply_tiles<1><<<grid, block_size>>>(o);
    check_launch("multiply_tiles");
}

void matmul(const float *M, const float *N, float *P, int j, int k, int l)
{
    sgemm(1, M, N, 0, P, j, k, l);
}

void matmul_square(const float *M, const float *N, float *P, int width)
{
    matmul(M, N, P, width, width, width);
}
