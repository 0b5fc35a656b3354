// Lab 12, the time to beat: what a careful beginner writes first. All that travels goes by way of
// the host, and what needs computing is computed on one device.
#include "lab.hpp"

#include <cuda_runtime.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

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

void peer_table(int *can_access_host, int devices)
{
    for (int i = 0; i < devices; ++i)
        for (int j = 0; j < devices; ++j) {
            int can = device_of(i) == device_of(j);
            if (!can)
                check(cudaDeviceCanAccessPeer(&can, device_of(i), device_of(j)),
                      "cudaDeviceCanAccessPeer");
            can_access_host[i * devices + j] = can;
        }
}

void broadcast(float *const *buffers, int n, int devices)
{
    std::vector<float> values(n);
    copy(values.data(), buffers[0], n);
    for (int k = 1; k < devices; ++k) copy(buffers[k], values.data(), n);
}

static __global__ void add(float *to, const float *from, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) to[i] += from[i];
}

void all_reduce(float *const *buffers, int n, int devices)
{
    if (n == 0) return;
    check(cudaSetDevice(device_of(0)), "cudaSetDevice");
    std::vector<float> values(n);
    array<float> other(n);
    for (int k = 1; k < devices; ++k) {
        copy(values.data(), buffers[k], n);
        copy(other.at, values.data(), n);
        add<<<blocks_for(n), block_size>>>(buffers[0], other.at, n);
        check(cudaPeekAtLastError(), "add");
    }
    broadcast(buffers, n, devices);
}

// row[j] and a[k][j] change places.
static __global__ void swap_rows(double *a, int n, int k, int row)
{
    int j = blockIdx.x * block_size + threadIdx.x;
    if (j > n) return;
    double x = a[k * (n + 1) + j];
    a[k * (n + 1) + j] = a[row * (n + 1) + j];
    a[row * (n + 1) + j] = x;
}

// A thread an element right of column k, a row of blocks for each row below k.
static __global__ void eliminate_column(double *a, int n, int k)
{
    int i = k + 1 + blockIdx.y, j = k + 1 + blockIdx.x * block_size + threadIdx.x;
    if (j > n) return;
    a[i * (n + 1) + j] -= a[i * (n + 1) + k] / a[k * (n + 1) + k] * a[k * (n + 1) + j];
}

int eliminate(const double *augmented_host, int n, double *x_host, int)
{
    if (n == 0) return 0;
    check(cudaSetDevice(device_of(0)), "cudaSetDevice");
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
        check(cudaPeekAtLastError(), "eliminate_column");
    }
    std::vector<double> upper(n * row);
    copy(upper.data(), a.at, n * row);
    for (int k = n - 1; k >= 0; --k) {
        x_host[k] = upper[k * row + n];
        for (int j = k + 1; j < n; ++j) x_host[k] -= upper[k * row + j] * x_host[j];
        x_host[k] /= upper[k * row + k];
    }
    return 0;
}

static __global__ void merge(const unsigned char *first, const unsigned char *second,
                             unsigned char *out, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) out[i] = (3 * first[i] + second[i] + 2) / 4;
}

void merge_images(const unsigned char *first_host, const unsigned char *second_host,
                  unsigned char *out_host, int width, int height, int count, int)
{
    int n = width * height * count;
    if (n == 0) return;
    check(cudaSetDevice(device_of(0)), "cudaSetDevice");
    array<unsigned char> first(n), second(n);
    copy(first.at, first_host, n);
    copy(second.at, second_host, n);
    merge<<<blocks_for(n), block_size>>>(first.at, second.at, first.at, n);
    check(cudaPeekAtLastError(), "merge");
    copy(out_host, first.at, n);
}
