// Lab 12 by the vendor: NCCL for what travels between devices, cuSOLVER on one of them for the
// system of equations. For the other three tasks there is no library.
#include "lab.hpp"

#include <cuda_runtime.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <cusolverDn.h>
#include <nccl.h>

#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using std::size_t;

static void check(cudaError_t error, const char *step)
{
    if (error != cudaSuccess)
        throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(error));
}

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

// A communicator a member, for all calls of the process: to make them takes half a second.
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
        check(cudaPeekAtLastError(), "add");
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
    check(cudaPeekAtLastError(), "take_columns");
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
    check(cudaPeekAtLastError(), "merge");
    copy(out_host, first.at, n);
}

// The same by ranks: a broadcast of everything, and then each its own columns, j % ranks.
#ifdef WITH_MPI
// Row k, which is the pivot's, changes places with `row`, and is subtracted from those below: a
// thread an own column from column k on.
static __global__ void eliminate_own(double *a, const double *multipliers, int n, int k, int row,
                                     int ranks, int rank)
{
    int j = rank + ranks * (blockIdx.x * blockDim.x + threadIdx.x), width = n + 1;
    if (j < k || j > n) return;
    double x = a[row * width + j];
    a[row * width + j] = a[k * width + j];
    a[k * width + j] = x;
    for (int i = k + 1; i < n; ++i) a[i * width + j] -= multipliers[i] * x;
}

int eliminate_ranks(const double *augmented_host, int n, double *x_host)
{
    int ranks, rank, width = n + 1, all = n * width;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    auto copy_all = [](double *to, const double *from, size_t numbers) {
        check(cudaMemcpy(to, from, sizeof(double) * numbers, cudaMemcpyDefault), "cudaMemcpy");
    };
    std::vector<double> system(all), column(width), upper(all);
    if (rank == 0) system.assign(augmented_host, augmented_host + all);
    MPI_Bcast(system.data(), all, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    array<double> a(all), multipliers(width);
    copy_all(a.at, system.data(), all);
    for (int k = 0; k < n; ++k) {
        if (rank == k % ranks) { // column[n] is the pivot's row
            check(cudaMemcpy2D(column.data(), sizeof(double), a.at + k, sizeof(double) * width,
                               sizeof(double), n, cudaMemcpyDeviceToHost),
                  "cudaMemcpy2D");
            int row = k;
            for (int i = k + 1; i < n; ++i)
                if (std::abs(column[i]) > std::abs(column[row])) row = i;
            std::swap(column[k], column[row]);
            column[n] = row;
            for (int i = k + 1; i < n && column[k] != 0; ++i) column[i] /= column[k];
        }
        MPI_Bcast(column.data(), width, MPI_DOUBLE, k % ranks, MPI_COMM_WORLD);
        if (column[k] == 0) return 1; // so do all
        copy_all(multipliers.at, column.data(), width);
        eliminate_own<<<width / 256 + 1, 256>>>(a.at, multipliers.at, n, k, int(column[n]), ranks,
                                                rank);
        check(cudaPeekAtLastError(), "eliminate_own");
    }
    copy_all(system.data(), a.at, all);
    for (int i = 0; i < all; ++i)
        if (i % width % ranks != rank) system[i] = 0; // those of others
    MPI_Reduce(system.data(), upper.data(), all, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int k = n - 1; k >= 0 && rank == 0; --k) {
        x_host[k] = upper[k * width + n];
        for (int j = k + 1; j < n; ++j) x_host[k] -= upper[k * width + j] * x_host[j];
        x_host[k] /= upper[k * width + k];
    }
    return 0;
}
#else
int eliminate_ranks(const double *, int, double *) { return -1; }
#endif
