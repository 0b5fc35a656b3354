// Right: up to three host threads, each with a stream of its own (RAII), launch a stripe of rows
// each; a thread sums two columns of 16.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <future>
#include <vector>

constexpr int side = 64, depth = 8, column = 16; // 64 rows: 4 groups of 16
constexpr int cols = 2 * side;                   // a thread has columns x and x + 64

// A blocking stream: it comes after what the default stream was given before.
class stream {
public:
    stream() { check(cudaStreamCreate(&handle_), "cudaStreamCreate"); }
    ~stream() { cudaStreamDestroy(handle_); }
    stream(const stream &) = delete;
    stream &operator=(const stream &) = delete;
    operator cudaStream_t() const { return handle_; }

private:
    cudaStream_t handle_ = nullptr;
};

static __global__ void __launch_bounds__(side * 4)
    multiply(float alpha, const float *__restrict__ A, const float *__restrict__ B, float beta,
             float *__restrict__ C, int j, int k, int l)
{
    __shared__ float4 a_tile[depth][side / 4 + 1]; // transposed: float4 is four rows
    __shared__ float b_tile[depth][cols];
    const int x = threadIdx.x, y = threadIdx.y, rank = y * side + x;
    const int row0 = blockIdx.y * side, col0 = blockIdx.x * cols;
    float sum[2][column] = {};

    for (int k0 = 0; k0 < k; k0 += depth) {
        for (int e = rank; e < side * depth; e += 4 * side) {
            int r = row0 + e / depth, i = k0 + e % depth;
            float *row = reinterpret_cast<float *>(a_tile[e % depth]);
            row[e / depth] = r < j && i < k ? A[r * k + i] : 0;
        }
        for (int e = rank; e < depth * cols; e += 4 * side) {
            int i = k0 + e / cols, c = col0 + e % cols;
            b_tile[e / cols][e % cols] = i < k && c < l ? B[i * l + c] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < depth; ++i) {
            const float b[2] = {b_tile[i][x], b_tile[i][x + side]}; // each serves 16 sums
#pragma unroll
            for (int g = 0; g < column / 4; ++g) {
                float4 a = a_tile[i][y * column / 4 + g]; // the same for all lanes
#pragma unroll
                for (int c = 0; c < 2; ++c) {
                    sum[c][4 * g] += a.x * b[c];
                    sum[c][4 * g + 1] += a.y * b[c];
                    sum[c][4 * g + 2] += a.z * b[c];
                    sum[c][4 * g + 3] += a.w * b[c];
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int c = 0; c < 2; ++c) {
        int col = col0 + x + c * side;
        if (col >= l) return;
#pragma unroll
        for (int r = 0; r < column; ++r) {
            int row = row0 + y * column + r;
            if (row >= j) break;
            float *at = &C[row * l + col];
            *at = beta == 0 ? alpha * sum[c][r] : alpha * sum[c][r] + beta * *at;
        }
    }
}

static void multiply_stripe(int device, float alpha, const float *A, const float *B, float beta,
                            float *C, int j, int k, int l)
{
    check(cudaSetDevice(device), "cudaSetDevice"); // a new thread begins with device 0
    stream mine;
    dim3 grid((l + cols - 1) / cols, (j + side - 1) / side);
    multiply<<<grid, dim3(side, 4), 0, mine>>>(alpha, A, B, beta, C, j, k, l);
    check_launch("multiply");
    check(cudaStreamSynchronize(mine), "cudaStreamSynchronize");
}

void sgemm(float alpha, const float *A, const float *B, float beta, float *C, int j, int k, int l)
{
    if (j == 0 || l == 0) return;
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    // Whole tiles a stripe, so that no tile is cut in two.
    int tiles = (j + side - 1) / side, stripe = (tiles + 2) / 3 * side;
    std::vector<std::future<void>> stripes;
    for (int row = 0; row < j; row += stripe)
        stripes.push_back(std::async(std::launch::async, multiply_stripe, device, alpha,
                                     A + row * k, B, beta, C + row * l, std::min(stripe, j - row),
                                     k, l));
    for (auto &s : stripes) s.get(); // rethrows what a thread threw
}

void matmul(const float *M, const float *N, float *P, int j, int k, int l)
{
    sgemm(1, M, N, 0, P, j, k, l);
}

void matmul_square(const float *M, const float *N, float *P, int width)
{
    sgemm(1, M, N, 0, P, width, width, width);
}
