// Lab 15 by the vendor: cuSOLVER, on one device. Ranks do what a beginner would write: there is no
// library for them in the toolkit.
#include "../check.hpp"
#include "../devices.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <cusolverDn.h>
#include <stdexcept>
#include <string>
#include <vector>

using std::size_t;

static void require(cusolverStatus_t status, const char *call)
{
    if (status != CUSOLVER_STATUS_SUCCESS)
        throw std::runtime_error(std::string(call) + ": status " + std::to_string(int(status)));
}

template <class T> static void copy(T *to, const T *from, size_t n)
{
    check(cudaMemcpy(to, from, sizeof(T) * n, cudaMemcpyDefault), "cudaMemcpy");
}

// cuSOLVER takes matrices to be column-major; the right-hand side is a column of its own.
static __global__ void take_columns(const double *rows, double *columns, int n)
{
    int i = blockIdx.x * 16 + threadIdx.x / 16, j = blockIdx.y * 16 + threadIdx.x % 16;
    if (i < n && j <= n) columns[size_t(j) * n + i] = rows[size_t(i) * (n + 1) + j];
}

int eliminate_one(const double *augmented_host, int n, double *x_host)
{
    if (n == 0) return 0;
    check(cudaSetDevice(0), "cudaSetDevice");
    static cusolverDnHandle_t handle = [] {
        cusolverDnHandle_t h = nullptr;
        require(cusolverDnCreate(&h), "cusolverDnCreate");
        return h;
    }();
    size_t all = size_t(n) * (n + 1);
    array<double> rows(all), columns(all);
    copy(rows.at, augmented_host, all);
    take_columns<<<dim3((n + 15) / 16, n / 16 + 1), 256>>>(rows.at, columns.at, n);
    check_launch("take_columns");
    int room = 0, info[2] = {};
    require(cusolverDnDgetrf_bufferSize(handle, n, n, columns.at, n, &room),
            "cusolverDnDgetrf_bufferSize");
    array<double> work(room);
    array<int> pivots(n), found(2);
    double *right = columns.at + size_t(n) * n;
    require(cusolverDnDgetrf(handle, n, n, columns.at, n, work.at, pivots.at, found.at),
            "cusolverDnDgetrf");
    copy(info, found.at, 1);
    if (info[0] != 0) return 1;
    require(cusolverDnDgetrs(handle, CUBLAS_OP_N, n, 1, columns.at, n, pivots.at, right, n,
                             found.at + 1),
            "cusolverDnDgetrs");
    copy(x_host, right, n);
    return 0;
}

int eliminate(const double *augmented_host, int n, double *x_host, int)
{
    return eliminate_one(augmented_host, n, x_host);
}

#ifdef WITH_MPI
constexpr int block_size = 256;

// Elimination by ranks. Columns are dealt out like cards: column j of the system belongs to rank
// j % ranks; the right-hand side is column n. A rank keeps its columns one after the other, n
// numbers each, from top to bottom.
struct deal {
    int n, ranks, rank;
    double *columns;
    // Returns how many of its columns lie before column j.
    __host__ __device__ int own_before(int j) const { return (j - rank + ranks - 1) / ranks; }
    // Returns its i-th column.
    __host__ __device__ double *own(int i) const { return columns + size_t(i) * n; }
};

// Writes the message that the owner of column k sends to all: message[0] is the row of the pivot,
// or -1 if there is none; message[1 + i], for each row i below k, is the row's multiplier: how many
// times row k must be subtracted from it. In one block.
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

// Updates the columns right of column k: one block per column, the first of which is the rank's
// i-th.
static __global__ void update_columns(deal d, int k, int i, const double *message)
{
    double *column = d.own(i + blockIdx.x);
    if (message[0] < 0) return;
    int row = int(message[0]);
    if (threadIdx.x == 0) {
        double x = column[row];
        column[row] = column[k];
        column[k] = x;
    }
    __syncthreads();
    for (int j = k + 1 + threadIdx.x; j < d.n; j += block_size)
        column[j] -= message[1 + j] * column[k];
}

// All columns in host memory of rank 0: first those of rank 0, one after the other, n numbers each,
// then those of rank 1, and so on.
struct dealt_columns {
    int n, ranks;
    std::vector<int> counts, starts; // how many numbers, and where they start
    std::vector<double> numbers;
    dealt_columns(int n, int ranks) : n(n), ranks(ranks)
    {
        for (int k = 0; k < ranks; ++k) {
            starts.push_back(k == 0 ? 0 : starts[k - 1] + counts[k - 1]);
            counts.push_back(deal{n, ranks, k, nullptr}.own_before(n + 1) * n);
        }
    }
    double *column(int j) { return numbers.data() + starts[j % ranks] + size_t(j / ranks) * n; }
    void take(const double *augmented_host)
    {
        numbers.resize(size_t(n) * (n + 1));
        for (int j = 0; j <= n; ++j)
            for (int i = 0; i < n; ++i) column(j)[i] = augmented_host[size_t(i) * (n + 1) + j];
    }
};

// Computes the unknowns, from the last to the first. Returns nonzero if a column has no pivot.
static int substitute_back(dealt_columns &all, double *x_host)
{
    int singular = 0;
    double *y = all.column(all.n);
    for (int k = all.n - 1; k >= 0; --k) {
        const double *column = all.column(k);
        singular |= column[k] == 0;
        x_host[k] = y[k] / column[k];
        for (int i = 0; i < k; ++i) y[i] -= column[i] * x_host[k];
    }
    return singular;
}

int eliminate_ranks(const double *augmented_host, int n, double *x_host)
{
    int ranks, rank;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    dealt_columns all(n, ranks);
    if (rank == 0) all.take(augmented_host);
    std::vector<double> own(all.counts[rank]);
    MPI_Scatterv(all.numbers.data(), all.counts.data(), all.starts.data(), MPI_DOUBLE, own.data(),
                 all.counts[rank], MPI_DOUBLE, 0, MPI_COMM_WORLD);

    array<double> columns(own.size()), message(n + 1);
    std::vector<double> travelling(n + 1);
    copy(columns.at, own.data(), own.size());
    deal d{n, ranks, rank, columns.at};
    for (int j = 0; j < n; ++j) {
        if (rank == j % ranks) {
            pick_pivot<<<1, block_size>>>(d.own(j / ranks), n, j, message.at);
            copy(travelling.data(), message.at, n + 1);
        }
        MPI_Bcast(travelling.data(), n + 1, MPI_DOUBLE, j % ranks, MPI_COMM_WORLD);
        if (rank != j % ranks) copy(message.at, travelling.data(), n + 1);
        int i = d.own_before(j + 1), left = d.own_before(n + 1) - i;
        if (left > 0) update_columns<<<left, block_size>>>(d, j, i, message.at);
        check_launch("a launch of eliminate_ranks");
    }
    copy(own.data(), columns.at, own.size());
    MPI_Gatherv(own.data(), all.counts[rank], MPI_DOUBLE, all.numbers.data(), all.counts.data(),
                all.starts.data(), MPI_DOUBLE, 0, MPI_COMM_WORLD);

    int singular = rank == 0 ? substitute_back(all, x_host) : 0;
    MPI_Bcast(&singular, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return singular;
}
#else
int eliminate_ranks(const double *, int, double *) { return -1; }
#endif
