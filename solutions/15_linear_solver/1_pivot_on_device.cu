// Lab 15, rung 1: the pivot stays on the device.
//
// New: a kernel finds the pivot and writes the multipliers, and the next one reads them there, so
// that the host waits only at the end; each column is contiguous. Several devices and ranks are as
// in naive.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <algorithm>
#include <cmath>
#include <vector>

using std::size_t;

// Memory of the device that is current when it is allocated.
template <class T> struct array {
    T *at = nullptr;
    explicit array(size_t n) { check(cudaMalloc(&at, sizeof(T) * (n + 1)), "cudaMalloc"); }
    array(const array &) = delete;
    ~array() { cudaFree(at); }
};

constexpr int block_size = 256;
static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

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
    check(cudaSetDevice(0), "cudaSetDevice");
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
    check_launch("a launch of eliminate");
    std::vector<double> pivots(n); // the first number of each message
    check(cudaMemcpy2D(pivots.data(), sizeof(double), messages.at, sizeof(double) * row,
                       sizeof(double), n, cudaMemcpyDeviceToHost),
          "cudaMemcpy2D");
    if (std::find(pivots.begin(), pivots.end(), -1.0) != pivots.end()) return 1;
    check(cudaMemcpy(x_host, y, sizeof(double) * n, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return 0;
}

int eliminate(const double *augmented_host, int n, double *x_host, int)
{
    return eliminate_one(augmented_host, n, x_host);
}

#ifdef WITH_MPI
static void copy(double *to, const double *from, size_t n)
{
    check(cudaMemcpy(to, from, sizeof(double) * n, cudaMemcpyDefault), "cudaMemcpy");
}

// Computes the unknowns, from the last to the first, once all numbers below the diagonal are zero.
static void substitute_back(const std::vector<double> &upper, int n, double *x_host)
{
    size_t row = n + 1;
    for (int k = n - 1; k >= 0; --k) {
        x_host[k] = upper[k * row + n];
        for (int j = k + 1; j < n; ++j) x_host[k] -= upper[k * row + j] * x_host[j];
        x_host[k] /= upper[k * row + k];
    }
}

// This rank's rows below row k, of which the first is number `first`: one thread per element, one
// row of blocks per row.
static __global__ void eliminate_below(double *rows, const double *pivot, int n, int first, int k)
{
    int i = blockIdx.y, j = k + 1 + blockIdx.x * block_size + threadIdx.x;
    double *row = rows + i * (n + 1);
    if (j <= n && first + i > k) row[j] -= row[k] / pivot[k] * pivot[j];
}

int eliminate_ranks(const double *augmented_host, int n, double *x_host)
{
    int ranks, rank;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int row = n + 1, block = (n + ranks - 1) / ranks; // rows per rank
    std::vector<int> counts, starts;
    for (int k = 0; k < ranks; ++k) {
        starts.push_back(row * std::min(n, k * block));
        counts.push_back(row * std::min(n, (k + 1) * block) - starts[k]);
    }
    const int first = starts[rank] / row, own = counts[rank] / row;
    std::vector<double> rows(counts[rank]), column(own), pivot(row), other(row);
    MPI_Scatterv(augmented_host, counts.data(), starts.data(), MPI_DOUBLE, rows.data(),
                 counts[rank], MPI_DOUBLE, 0, MPI_COMM_WORLD);
    array<double> a(counts[rank]), pivot_there(row);
    copy(a.at, rows.data(), counts[rank]);

    for (int k = 0; k < n; ++k) {
        struct {
            double value;
            int row;
        } best{0, k}, of_all;
        if (own > 0)
            check(cudaMemcpy2D(column.data(), sizeof(double), a.at + k, row * sizeof(double),
                               sizeof(double), own, cudaMemcpyDeviceToHost),
                  "cudaMemcpy2D");
        for (int i = std::max(0, k - first); i < own; ++i)
            if (std::abs(column[i]) > best.value) best = {std::abs(column[i]), first + i};
        MPI_Allreduce(&best, &of_all, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
        if (of_all.value == 0) return 1;

        // The pivot's row goes to all ranks, row k to the pivot's old place.
        const int from = of_all.row / block, of_k = k / block;
        auto own_row = [&](int i) { return a.at + (i - first) * row; };
        if (rank == from) copy(pivot.data(), own_row(of_all.row), row);
        if (rank == of_k) copy(other.data(), own_row(k), row);
        MPI_Bcast(pivot.data(), row, MPI_DOUBLE, from, MPI_COMM_WORLD);
        if (rank == of_k && from != of_k)
            MPI_Send(other.data(), row, MPI_DOUBLE, from, k, MPI_COMM_WORLD);
        if (rank == from && from != of_k)
            MPI_Recv(other.data(), row, MPI_DOUBLE, of_k, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == from) copy(own_row(of_all.row), other.data(), row);
        if (rank == of_k) copy(own_row(k), pivot.data(), row);
        copy(pivot_there.at, pivot.data(), row);
        if (own > 0)
            eliminate_below<<<dim3(blocks_for(n - k), own), block_size>>>(a.at, pivot_there.at, n,
                                                                          first, k);
        check_launch("eliminate_below");
    }

    copy(rows.data(), a.at, counts[rank]);
    std::vector<double> upper(rank == 0 ? n * row : 0);
    MPI_Gatherv(rows.data(), counts[rank], MPI_DOUBLE, upper.data(), counts.data(), starts.data(),
                MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0) substitute_back(upper, n, x_host);
    return 0;
}
#else
int eliminate_ranks(const double *, int, double *) { return -1; }
#endif
