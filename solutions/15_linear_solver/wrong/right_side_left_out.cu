// Fails: eliminate_one: one unknown per equation | WRONG_ANSWER | the right-hand side had stayed as it was
// The columns that are updated end left of the right-hand side.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <vector>

constexpr int block_size = 256;

static __global__ void take_columns(const double *rows, double *columns, int n)
{
    for (int i = threadIdx.x; i < n; i += block_size)
        columns[size_t(blockIdx.x) * n + i] = rows[i * size_t(n + 1) + blockIdx.x];
}

static __device__ int find_pivot(const double *column, int n, int k)
{
    __shared__ double values[block_size];
    __shared__ int rows[block_size];
    int t = threadIdx.x;
    values[t] = 0;
    rows[t] = -1;
    for (int i = k + t; i < n; i += block_size)
        if (fabs(column[i]) > values[t]) {
            values[t] = fabs(column[i]);
            rows[t] = i;
        }
    __syncthreads();
    for (int half = block_size / 2; half > 0; half /= 2) {
        if (t < half && values[t + half] > values[t]) {
            values[t] = values[t + half];
            rows[t] = rows[t + half];
        }
        __syncthreads();
    }
    return rows[0];
}

static __device__ void exchange_rows(double *column, int k, int row)
{
    if (threadIdx.x == 0) {
        double x = column[row];
        column[row] = column[k];
        column[k] = x;
    }
    __syncthreads();
}

static __global__ void pick_pivot(double *column, int n, int k, double *message)
{
    int row = find_pivot(column, n, k);
    if (threadIdx.x == 0) message[0] = row;
    if (row < 0) return;
    exchange_rows(column, k, row);
    for (int i = k + 1 + threadIdx.x; i < n; i += block_size)
        message[1 + i] = column[i] / column[k];
}

static __global__ void update_columns(double *columns, int n, int k, const double *message)
{
    double *column = columns + size_t(blockIdx.x) * n;
    if (message[0] < 0) return;
    exchange_rows(column, k, int(message[0]));
    for (int i = k + 1 + threadIdx.x; i < n; i += block_size)
        column[i] -= message[1 + i] * column[k];
}

static __global__ void substitute(const double *column, int k, double *y)
{
    double unknown = y[k] / column[k];
    __syncthreads();
    if (threadIdx.x == 0) y[k] = unknown;
    for (int i = threadIdx.x; i < k; i += block_size) y[i] -= column[i] * unknown;
}

static void copy(double *to, const double *from, size_t n)
{
    check(cudaMemcpy(to, from, sizeof(double) * n, cudaMemcpyDefault), "cudaMemcpy");
}

int eliminate_one(const double *augmented_host, int n, double *x_host)
{
    if (n == 0) return 0;
    check(cudaSetDevice(0), "cudaSetDevice");
    size_t row = n + 1, bytes = sizeof(double) * n * row;
    double *rows, *columns, *messages;
    check(cudaMalloc(&rows, bytes), "cudaMalloc");
    check(cudaMalloc(&columns, bytes), "cudaMalloc");
    check(cudaMalloc(&messages, bytes), "cudaMalloc");
    copy(rows, augmented_host, n * row);
    take_columns<<<n + 1, block_size>>>(rows, columns, n);
    auto column = [&](int j) { return columns + size_t(j) * n; };
    for (int k = 0; k < n; ++k) {
        double *message = messages + k * row;
        pick_pivot<<<1, block_size>>>(column(k), n, k, message);
        if (k < n - 1) update_columns<<<n - k - 1, block_size>>>(column(k + 1), n, k, message);
    }
    for (int k = n - 1; k >= 0; --k) substitute<<<1, block_size>>>(column(k), k, column(n));
    check_launch("a launch of eliminate_one");
    std::vector<double> pivots(n);
    check(cudaMemcpy2D(pivots.data(), sizeof(double), messages, sizeof(double) * row,
                       sizeof(double), n, cudaMemcpyDeviceToHost),
          "cudaMemcpy2D");
    copy(x_host, column(n), n);
    for (double *memory : {rows, columns, messages}) check(cudaFree(memory), "cudaFree");
    for (double pivot : pivots)
        if (pivot < 0) return 1;
    return 0;
}

int eliminate(const double *, int, double *, int) { return 0; }
int eliminate_ranks(const double *, int, double *) { return 0; }
