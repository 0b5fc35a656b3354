// Lab 15, the time to beat: what a careful beginner writes first. The host looks for each pivot,
// and everything is computed on one device.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <algorithm>
#include <cmath>
#include <vector>

constexpr int block_size = 256;
static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

// Device memory for as long as this lives.
template <class T> struct array {
    T *at = nullptr;
    explicit array(std::size_t n) { check(cudaMalloc(&at, sizeof(T) * (n + 1)), "cudaMalloc"); }
    ~array() { cudaFree(at); }
    array(const array &) = delete;
    array &operator=(const array &) = delete;
};

template <class T> static void copy(T *to, const T *from, std::size_t n)
{
    check(cudaMemcpy(to, from, sizeof(T) * n, cudaMemcpyDefault), "cudaMemcpy");
}

// Exchanges row[j] and a[k][j].
static __global__ void swap_rows(double *a, int n, int k, int row)
{
    int j = blockIdx.x * block_size + threadIdx.x;
    if (j > n) return;
    double x = a[k * (n + 1) + j];
    a[k * (n + 1) + j] = a[row * (n + 1) + j];
    a[row * (n + 1) + j] = x;
}

// One thread per element right of column k, one row of blocks per row below k.
static __global__ void eliminate_column(double *a, int n, int k)
{
    int i = k + 1 + blockIdx.y, j = k + 1 + blockIdx.x * block_size + threadIdx.x;
    if (j > n) return;
    a[i * (n + 1) + j] -= a[i * (n + 1) + k] / a[k * (n + 1) + k] * a[k * (n + 1) + j];
}

// Computes the unknowns, from the last to the first, once all numbers below the diagonal are zero.
static void substitute(const std::vector<double> &upper, int n, double *x_host)
{
    std::size_t row = n + 1;
    for (int k = n - 1; k >= 0; --k) {
        x_host[k] = upper[k * row + n];
        for (int j = k + 1; j < n; ++j) x_host[k] -= upper[k * row + j] * x_host[j];
        x_host[k] /= upper[k * row + k];
    }
}

int eliminate_one(const double *augmented_host, int n, double *x_host)
{
    if (n == 0) return 0;
    check(cudaSetDevice(0), "cudaSetDevice");
    std::size_t row = n + 1, bytes = sizeof(double);
    array<double> a(n * row);
    copy(a.at, augmented_host, n * row);
    std::vector<double> column(n);
    for (int k = 0; k < n; ++k) {
        check(cudaMemcpy2D(column.data(), bytes, a.at + k, bytes * row, bytes, n,
                           cudaMemcpyDeviceToHost),
              "cudaMemcpy2D");
        int pivot = k;
        for (int i = k + 1; i < n; ++i)
            if (std::abs(column[i]) > std::abs(column[pivot])) pivot = i;
        if (column[pivot] == 0) return 1;
        if (pivot != k) swap_rows<<<blocks_for(n + 1), block_size>>>(a.at, n, k, pivot);
        dim3 grid(blocks_for(n - k), n - k - 1);
        if (k < n - 1) eliminate_column<<<grid, block_size>>>(a.at, n, k);
        check_launch("eliminate_column");
    }
    std::vector<double> upper(n * row);
    copy(upper.data(), a.at, n * row);
    substitute(upper, n, x_host);
    return 0;
}

int eliminate(const double *augmented_host, int n, double *x_host, int)
{
    return eliminate_one(augmented_host, n, x_host);
}

#ifdef WITH_MPI
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
    if (rank == 0) substitute(upper, n, x_host);
    return 0;
}
#else
int eliminate_ranks(const double *, int, double *) { return -1; }
#endif
