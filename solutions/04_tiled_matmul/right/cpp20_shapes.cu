// Right: C++20 in kernels: a concept for tile shapes, cuda::std::span views, lambdas for edges and
// for the end, cudaLaunchKernelEx.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda/std/array>
#include <cuda/std/span>
#include <cuda_runtime.h>

#include <concepts>

namespace {

// A block makes rows x cols sums, `deep` terms at a time, a thread down x across.
template <int Rows, int Cols, int Deep, int Down, int Across> struct shape {
    static constexpr int rows = Rows, cols = Cols, deep = Deep, down = Down, across = Across;
    static constexpr int threads = (rows / down) * (cols / across);
};

template <typename S>
concept tile_shape = requires
{
    {
        S::threads
        } -> std::convertible_to<int>;
}
&&S::rows % S::down == 0 && S::cols % S::across == 0 && S::across % 4 == 0 && S::down % 4 == 0 &&
    S::threads % 32 == 0 && S::threads <= 1024;

struct matrix {
    const float *first;
    int rows, cols;
    __device__ cuda::std::span<const float> row(int r) const
    {
        return {first + r * cols, static_cast<size_t>(cols)};
    }
    __device__ float at_or_zero(int r, int c) const
    {
        return r < rows && c < cols ? row(r)[c] : 0.0f;
    }
};

template <int n> __device__ cuda::std::array<float, n> load(const float *from)
{
    cuda::std::array<float, n> to;
#pragma unroll
    for (int i = 0; i < n; i += 4) {
        float4 four = *reinterpret_cast<const float4 *>(from + i);
        to[i] = four.x, to[i + 1] = four.y, to[i + 2] = four.z, to[i + 3] = four.w;
    }
    return to;
}

template <tile_shape S, typename Finish> __global__ void __launch_bounds__(S::threads)
    multiply(matrix A, matrix B, float *C, Finish finish)
{
    __shared__ alignas(16) float a_tile[2][S::deep][S::rows + 4];
    __shared__ alignas(16) float b_tile[2][S::deep][S::cols];
    const int row0 = blockIdx.y * S::rows, col0 = blockIdx.x * S::cols;
    const int my_row = threadIdx.x / (S::cols / S::across) * S::down;
    const int my_col = threadIdx.x % (S::cols / S::across) * S::across;

    auto fill = [&](int half, int k0) {
#pragma unroll
        for (int e = threadIdx.x; e < S::rows * S::deep; e += S::threads)
            a_tile[half][e % S::deep][e / S::deep] =
                A.at_or_zero(row0 + e / S::deep, k0 + e % S::deep);
#pragma unroll
        for (int e = threadIdx.x; e < S::deep * S::cols; e += S::threads)
            b_tile[half][e / S::cols][e % S::cols] =
                B.at_or_zero(k0 + e / S::cols, col0 + e % S::cols);
    };

    float sum[S::down][S::across] = {};
    fill(0, 0);
    __syncthreads();
    for (int k0 = 0, half = 0; k0 < A.cols; k0 += S::deep, half ^= 1) {
        if (k0 + S::deep < A.cols) fill(half ^ 1, k0 + S::deep); // nobody reads that half now
#pragma unroll
        for (int i = 0; i < S::deep; ++i) {
            auto a = load<S::down>(&a_tile[half][i][my_row]);
            auto b = load<S::across>(&b_tile[half][i][my_col]);
#pragma unroll
            for (int r = 0; r < S::down; ++r)
#pragma unroll
                for (int c = 0; c < S::across; ++c) sum[r][c] += a[r] * b[c];
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < S::down; ++r)
#pragma unroll
        for (int c = 0; c < S::across; ++c) {
            int row = row0 + my_row + r, col = col0 + my_col + c;
            if (row < A.rows && col < B.cols) finish(C[row * B.cols + col], sum[r][c]);
        }
}

struct overwrite {
    __device__ void operator()(float &c, float sum) const { c = sum; }
};
struct scale {
    float alpha;
    __device__ void operator()(float &c, float sum) const { c = alpha * sum; }
};
struct scale_and_add {
    float alpha, beta;
    __device__ void operator()(float &c, float sum) const { c = alpha * sum + beta * c; }
};

template <tile_shape S> void launch(matrix A, matrix B, float *C, auto finish)
{
    cudaLaunchConfig_t config{
        .gridDim = dim3((B.cols + S::cols - 1) / S::cols, (A.rows + S::rows - 1) / S::rows),
        .blockDim = dim3(S::threads)};
    check(cudaLaunchKernelEx(&config, multiply<S, decltype(finish)>, A, B, C, finish), "multiply");
}

// Small products keep more blocks busy with small tiles.
void product(matrix A, matrix B, float *C, auto finish)
{
    if (A.rows == 0 || B.cols == 0) return;
    using small = shape<64, 64, 16, 4, 4>;
    using large = shape<128, 128, 8, 8, 8>;
    if (A.rows <= 256 || B.cols <= 256) return launch<small>(A, B, C, finish);
    launch<large>(A, B, C, finish);
}

} // namespace

void matmul_square(const float *M, const float *N, float *P, int width)
{
    product({M, width, width}, {N, width, width}, P, overwrite{});
}

void matmul(const float *M, const float *N, float *P, int j, int k, int l)
{
    product({M, j, k}, {N, k, l}, P, overwrite{});
}

void sgemm(float alpha, const float *A, const float *B, float beta, float *C, int j, int k, int l)
{
    if (beta == 0) return product({A, j, k}, {B, k, l}, C, scale{.alpha = alpha});
    product({A, j, k}, {B, k, l}, C, scale_and_add{.alpha = alpha, .beta = beta});
}
