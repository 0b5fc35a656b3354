// Lab 15, rung 1: the pivot stays on the device.
//
// New: a kernel finds the pivot and writes the multipliers, and the next one reads them there, so
// that the host waits only at the end; each column is contiguous.
// Unchanged: eliminate, eliminate_ranks.
#include "../check.hpp"
#include "../devices.hpp"
#include "lab.hpp"

#include <algorithm>
#include <cuda_runtime.h>
#include <vector>

using std::size_t;

constexpr int block_size = 256;

// Columns one after the other, n numbers each, from top to bottom: one block per column.
static __global__ void take_columns(const double *rows, double *columns, int n)
{
    for (int i = threadIdx.x; i < n; i += block_size)
        columns[size_t(blockIdx.x) * n + i] = rows[i * size_t(n + 1) + blockIdx.x];
}

// message[0] becomes the row of the pivot, or -1 if there is none; message[1 + i], for each row i
// below k, the row's multiplier: how many times row k must be subtracted from it. In one block.
static __global__ void pick_pivot(double *column, int n, int k, double *message)
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
    if (t == 0) message[0] = rows[0];
    if (rows[0] < 0) return;
    if (t == 0) { // exchange the pivot and the number in row k
        double pivot = column[rows[0]];
        column[rows[0]] = column[k];
        column[k] = pivot;
    }
    __syncthreads();
    for (int i = k + 1 + t; i < n; i += block_size) message[1 + i] = column[i] / column[k];
}

// Updates the columns right of column k: one block per column.
static __global__ void update_columns(double *columns, int n, int k, const double *message)
{
    double *column = columns + size_t(k + 1 + blockIdx.x) * n;
    if (message[0] < 0) return;
    int row = int(message[0]);
    if (threadIdx.x == 0) {
        double x = column[row];
        column[row] = column[k];
        column[k] = x;
    }
    __syncthreads();
    for (int i = k + 1 + threadIdx.x; i < n; i += block_size)
        column[i] -= message[1 + i] * column[k];
}

// For the last unknowns, y holds their values; for the others, the remaining right-hand sides of
// their equations. Computes unknown k from its column; in one block.
static __global__ void substitute(const double *column, int k, double *y)
{
    double unknown = y[k] / column[k];
    __syncthreads(); // all have read y[k]
    if (threadIdx.x == 0) y[k] = unknown;
    for (int i = threadIdx.x; i < k; i += block_size) y[i] -= column[i] * unknown;
}

int eliminate_one(const double *augmented_host, int n, double *x_host)
{
    if (n == 0) return 0;
    use(0);
    size_t row = n + 1;
    array<double> rows(n * row), columns(n * row), messages(n * row);
    check(cudaMemcpy(rows.at, augmented_host, sizeof(double) * n * row, cudaMemcpyHostToDevice),
          "cudaMemcpy");
    take_columns<<<n + 1, block_size>>>(rows.at, columns.at, n);
    for (int k = 0; k < n; ++k) {
        double *message = messages.at + k * row;
        pick_pivot<<<1, block_size>>>(columns.at + size_t(k) * n, n, k, message);
        update_columns<<<n - k, block_size>>>(columns.at, n, k, message);
    }
    double *y = columns.at + size_t(n) * n; // the right-hand side
    for (int k = n - 1; k >= 0; --k)
        substitute<<<1, block_size>>>(columns.at + size_t(k) * n, k, y);
    check_launch("a launch of eliminate_one");
    std::vector<double> pivots(n); // the first number of each message
    check(cudaMemcpy2D(pivots.data(), sizeof(double), messages.at, sizeof(double) * row,
                       sizeof(double), n, cudaMemcpyDeviceToHost),
          "cudaMemcpy2D");
    if (std::find(pivots.begin(), pivots.end(), -1.0) != pivots.end()) return 1;
    check(cudaMemcpy(x_host, y, sizeof(double) * n, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return 0;
}
