// Lab 12 by the vendor: NCCL between devices, cuSOLVER on one of them for the
// system of equations. For the other three tasks there is no library.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <cusolverDn.h>
#include <nccl.h>

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

using std::size_t;

static void require(ncclResult_t result, const char *call)
{
    if (result != ncclSuccess)
        throw std::runtime_error(std::string(call) + ": " + ncclGetErrorString(result));
}

static void require(cusolverStatus_t status, const char *call)
{
    if (status != CUSOLVER_STATUS_SUCCESS)
        throw std::runtime_error(std::string(call) + ": status " + std::to_string(int(status)));
}

static int device_count()
{
    int devices = 0;
    check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    return devices;
}

template <class T> struct array {
    T *at = nullptr;
    explicit array(size_t n) { check(cudaMalloc(&at, sizeof(T) * (n + 1)), "cudaMalloc"); }
    array(const array &) = delete;
    ~array() { cudaFree(at); }
};

template <class T> static void copy(T *to, const T *from, size_t n)
{
    check(cudaMemcpy(to, from, sizeof(T) * n, cudaMemcpyDefault), "cudaMemcpy");
}

void peer_table(int *can_access_host, int devices)
{
    for (int i = 0; i < devices; ++i)
        for (int j = 0; j < devices; ++j) {
            int from = i % device_count(), to = j % device_count(), can = 1;
            if (from != to)
                check(cudaDeviceCanAccessPeer(&can, from, to), "cudaDeviceCanAccessPeer");
            can_access_host[i * devices + j] = can;
        }
}

// One communicator per member, for all calls of the process: creating them takes half a second.
static const std::vector<ncclComm_t> &communicators(int devices)
{
    static std::map<int, std::vector<ncclComm_t>> made;
    std::vector<ncclComm_t> &all = made[devices];
    if (all.empty()) {
        all.resize(devices);
        require(ncclCommInitAll(all.data(), devices, nullptr), "ncclCommInitAll");
    }
    return all;
}

// NCCL refuses two members on one device.
static bool too_many(int devices) { return devices > device_count(); }

template <class F> static void on_each(int devices, F f)
{
    const std::vector<ncclComm_t> &all = communicators(devices);
    require(ncclGroupStart(), "ncclGroupStart");
    for (int k = 0; k < devices; ++k) require(f(k, all[k]), "a collective of NCCL");
    require(ncclGroupEnd(), "ncclGroupEnd");
}

void broadcast(float *const *buffers, int n, int devices)
{
    if (too_many(devices)) {
        for (int k = 1; k < devices; ++k) copy(buffers[k], buffers[0], n);
        return;
    }
    on_each(devices, [&](int k, ncclComm_t c) {
        return ncclBroadcast(buffers[0], buffers[k], n, ncclFloat, 0, c, nullptr);
    });
}

static __global__ void add(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] += from[i];
}

void all_reduce(float *const *buffers, int n, int devices)
{
    if (n == 0) return;
    if (too_many(devices)) {
        check(cudaSetDevice(0), "cudaSetDevice");
        array<float> other(n);
        for (int k = 1; k < devices; ++k) {
            copy(other.at, buffers[k], n);
            add<<<(n + 255) / 256, 256>>>(buffers[0], other.at, n);
        }
        check_launch("add");
        return broadcast(buffers, n, devices);
    }
    on_each(devices, [&](int k, ncclComm_t c) {
        return ncclAllReduce(buffers[k], buffers[k], n, ncclFloat, ncclSum, c, nullptr);
    });
}

// cuSOLVER takes matrices to be column-major; the right-hand side is a column of its own.
static __global__ void take_columns(const double *rows, double *columns, int n)
{
    int i = blockIdx.x * 16 + threadIdx.x / 16, j = blockIdx.y * 16 + threadIdx.x % 16;
    if (i < n && j <= n) columns[size_t(j) * n + i] = rows[size_t(i) * (n + 1) + j];
}

int eliminate(const double *augmented_host, int n, double *x_host, int)
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

static __global__ void merge(const unsigned char *first, const unsigned char *second,
                             unsigned char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (3 * first[i] + second[i] + 2) / 4;
}

void merge_images(const unsigned char *first_host, const unsigned char *second_host,
                  unsigned char *out_host, int width, int height, int count, int)
{
    int n = int(size_t(width) * height * count);
    if (n == 0) return;
    check(cudaSetDevice(0), "cudaSetDevice");
    array<unsigned char> first(n), second(n);
    copy(first.at, first_host, n);
    copy(second.at, second_host, n);
    merge<<<(n + 255) / 256, 256>>>(first.at, second.at, first.at, n);
    check_launch("merge");
    copy(out_host, first.at, n);
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
