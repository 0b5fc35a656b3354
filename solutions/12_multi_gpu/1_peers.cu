// Lab 12, rung 1: nothing goes by way of the host.
//
// New: enable_peers, by which devices send to each other directly; in eliminate, the columns lie in
// one piece each, and where the pivot is stays on the device. All that is computed is computed on
// one device still, but for the images.
#include "lab.hpp"

#include <cuda_runtime.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using std::size_t;

// Every call of the runtime can fail: check(call, "its name").
static void check(cudaError_t error, const char *step)
{
    if (error != cudaSuccess)
        throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(error));
}

static int device_of(int member)
{
    int devices = 0;
    check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    return member % devices;
}

// What comes next on this host thread is about the member's device.
static void use(int member) { check(cudaSetDevice(device_of(member)), "cudaSetDevice"); }

// Memory of the device that is current when it is made.
template <class T> struct array {
    T *at = nullptr;
    explicit array(size_t n) { check(cudaMalloc(&at, sizeof(T) * (n + 1)), "cudaMalloc"); }
    array(const array &) = delete;
    ~array() { cudaFree(at); }
};

// A copy of n elements from one member's memory to another's, queued on the
// current device.
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

// Lets devices send to each other without a way around by the host, where they
// can.
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
    check(cudaPeekAtLastError(), "add");
    broadcast(buffers, n, devices);
    use(0); // cudaFree need not wait for what is queued behind a copy from another device
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

// Columns one after the other, n numbers each, from top to bottom: a block a column.
static __global__ void take_columns(const double *rows, double *columns, int n)
{
    for (int i = threadIdx.x; i < n; i += block_size)
        columns[size_t(blockIdx.x) * n + i] = rows[i * size_t(n + 1) + blockIdx.x];
}

// message[0] becomes the row of the pivot, or -1 if there is none; message[1 + i], for each row i
// below k, the multiplier of row k that is to be subtracted from it. In one block.
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
    if (t == 0) { // the pivot changes places with what is in row k
        double pivot = column[rows[0]];
        column[rows[0]] = column[k];
        column[k] = pivot;
    }
    __syncthreads();
    for (int i = k + 1 + t; i < n; i += block_size) message[1 + i] = column[i] / column[k];
}

// Brings the columns right of column k up to date: a block a column.
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

// Of the last unknowns, y holds the values; of the others, what their equations
// have left on the right. Finds unknown k, from its column; in one block.
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
    check(cudaPeekAtLastError(), "a launch of eliminate");
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
    check(cudaPeekAtLastError(), "merge");
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
