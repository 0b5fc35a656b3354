// Lab 12, rung 1: direct copies between devices.
//
// New: enable_peers, with which devices send to each other directly; in eliminate, each column is
// contiguous, and the row of the pivot stays on the device. Everything is still computed on one
// device, except the images and the rows of ranks, as in naive.
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

static int device_of(int member)
{
    int devices = 0;
    check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    return member % devices;
}

// Makes the member's device the current one of this host thread.
static void use(int member) { check(cudaSetDevice(device_of(member)), "cudaSetDevice"); }

// Memory of the device that is current when it is allocated.
template <class T> struct array {
    T *at = nullptr;
    explicit array(size_t n) { check(cudaMalloc(&at, sizeof(T) * (n + 1)), "cudaMalloc"); }
    array(const array &) = delete;
    ~array() { cudaFree(at); }
};

// Copies n elements from one member's memory to another's, queued on the current device.
template <class T> static void send(T *to, int receiver, const T *from, int sender, size_t n)
{
    check(cudaMemcpyPeerAsync(to, device_of(receiver), from, device_of(sender), sizeof(T) * n),
          "cudaMemcpyPeerAsync");
}

void peer_table(int *can_access_host, int devices)
{
    for (int i = 0; i < devices; ++i)
        for (int j = 0; j < devices; ++j) {
            int can = 1;
            if (device_of(i) != device_of(j))
                check(cudaDeviceCanAccessPeer(&can, device_of(i), device_of(j)),
                      "cudaDeviceCanAccessPeer");
            can_access_host[i * devices + j] = can;
        }
}

// Lets devices send to each other directly, not through the host, where they can.
static void enable_peers(int devices)
{
    std::vector<int> can(devices * devices);
    peer_table(can.data(), devices);
    for (int i = 0; i < devices; ++i)
        for (int j = 0; j < devices; ++j) {
            if (device_of(i) == device_of(j) || !can[i * devices + j]) continue;
            use(i);
            if (cudaDeviceEnablePeerAccess(device_of(j), 0) != cudaSuccess)
                if (cudaError_t e = cudaGetLastError(); e != cudaErrorPeerAccessAlreadyEnabled)
                    check(e, "cudaDeviceEnablePeerAccess");
        }
}

// Member 0 sends everything to all others.
void broadcast(float *const *buffers, int n, int devices)
{
    enable_peers(devices);
    use(0);
    for (int k = 1; k < devices; ++k) send(buffers[k], k, buffers[0], 0, n);
}

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

// to[i] += from[i].
static __global__ void add(float *to, const float *from, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) to[i] += from[i];
}

// Member 0 gets everything, adds it up, and sends it back.
void all_reduce(float *const *buffers, int n, int devices)
{
    if (n == 0) return;
    enable_peers(devices);
    use(0);
    array<float> other(n);
    for (int k = 1; k < devices; ++k) {
        send(other.at, 0, buffers[k], k, n);
        add<<<blocks_for(n), block_size>>>(buffers[0], other.at, n);
    }
    check_launch("add");
    broadcast(buffers, n, devices);
    use(0); // cudaFree need not wait for work queued behind a copy from another device
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

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

int eliminate(const double *augmented_host, int n, double *x_host, int)
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
    check_launch("a launch of eliminate");
    std::vector<double> pivots(n); // the first number of each message
    check(cudaMemcpy2D(pivots.data(), sizeof(double), messages.at, sizeof(double) * row,
                       sizeof(double), n, cudaMemcpyDeviceToHost),
          "cudaMemcpy2D");
    if (std::find(pivots.begin(), pivots.end(), -1.0) != pivots.end()) return 1;
    check(cudaMemcpy(x_host, y, sizeof(double) * n, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return 0;
}

static __global__ void merge(const unsigned char *first, const unsigned char *second,
                             unsigned char *out, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) out[i] = (3 * first[i] + second[i] + 2) / 4;
}

// Merges n pixels on the current device.
static void merge_pixels(const unsigned char *first_host, const unsigned char *second_host,
                         unsigned char *out_host, int n)
{
    if (n == 0) return;
    array<unsigned char> first(n), second(n);
    check(cudaMemcpy(first.at, first_host, n, cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaMemcpy(second.at, second_host, n, cudaMemcpyHostToDevice), "cudaMemcpy");
    merge<<<blocks_for(n), block_size>>>(first.at, second.at, first.at, n);
    check_launch("merge");
    check(cudaMemcpy(out_host, first.at, n, cudaMemcpyDeviceToHost), "cudaMemcpy");
}

void merge_images(const unsigned char *first_host, const unsigned char *second_host,
                  unsigned char *out_host, int width, int height, int count, int devices)
{
    size_t image = size_t(width) * height;
    for (int k = 0; k < devices; ++k) {
        size_t first = image * (size_t(count) * k / devices);
        size_t last = image * (size_t(count) * (k + 1) / devices);
        use(k);
        merge_pixels(first_host + first, second_host + first, out_host + first, int(last - first));
    }
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
