// Fails: eliminate_one: who waits | TIMEOUT | cudaStreamSynchronize
// The host asks about each column whether it has a pivot, and spins until a flag in pinned memory
// tells that the answer is there.
#include "../check.hpp"
#include "lab.hpp"

#include <cmath>
#include <cuda_runtime.h>
#include <vector>

constexpr int block_size = 256;
static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

// Column k, and behind it the number of the last column that is complete.
static __global__ void show(const double *a, double *column, int n, int k)
{
    for (int i = threadIdx.x; i < n; i += block_size) column[i] = a[i * (n + 1) + k];
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0) *static_cast<volatile double *>(column + n) = k;
}

static __global__ void swap_rows(double *a, int n, int k, int row)
{
    int j = blockIdx.x * block_size + threadIdx.x;
    if (j > n) return;
    double x = a[k * (n + 1) + j];
    a[k * (n + 1) + j] = a[row * (n + 1) + j];
    a[row * (n + 1) + j] = x;
}

static __global__ void eliminate_column(double *a, int n, int k)
{
    int i = k + 1 + blockIdx.y, j = k + 1 + blockIdx.x * block_size + threadIdx.x;
    if (j > n) return;
    a[i * (n + 1) + j] -= a[i * (n + 1) + k] / a[k * (n + 1) + k] * a[k * (n + 1) + j];
}

static bool has_pivots(double *a, double *column, int n)
{
    column[n] = -1;
    for (int k = 0; k < n; ++k) {
        show<<<1, block_size>>>(a, column, n, k);
        while (*static_cast<volatile double *>(column + n) != k) {
        }
        int pivot = k;
        for (int i = k + 1; i < n; ++i)
            if (std::abs(column[i]) > std::abs(column[pivot])) pivot = i;
        if (column[pivot] == 0) return false;
        if (pivot != k) swap_rows<<<blocks_for(n + 1), block_size>>>(a, n, k, pivot);
        dim3 grid(blocks_for(n - k), n - k - 1);
        if (k < n - 1) eliminate_column<<<grid, block_size>>>(a, n, k);
    }
    return true;
}

int eliminate_one(const double *augmented_host, int n, double *x_host)
{
    if (n == 0) return 0;
    const std::size_t row = n + 1, bytes = sizeof(double) * n * row;
    double *a = nullptr, *column = nullptr;
    check(cudaMalloc(&a, bytes), "cudaMalloc");
    check(cudaMallocHost(&column, sizeof(double) * row), "cudaMallocHost");
    check(cudaMemcpy(a, augmented_host, bytes, cudaMemcpyDefault), "cudaMemcpy");
    const bool solvable = has_pivots(a, column, n);
    std::vector<double> upper(n * row);
    check(cudaMemcpy(upper.data(), a, bytes, cudaMemcpyDefault), "cudaMemcpy");
    for (int k = n - 1; k >= 0 && solvable; --k) {
        x_host[k] = upper[k * row + n];
        for (int j = k + 1; j < n; ++j) x_host[k] -= upper[k * row + j] * x_host[j];
        x_host[k] /= upper[k * row + k];
    }
    cudaFreeHost(column);
    cudaFree(a);
    return solvable ? 0 : 1;
}

// Not begun.
int eliminate(const double *, int, double *, int) { return 0; }
#ifdef WITH_MPI
int eliminate_ranks(const double *, int, double *) { return 0; }
#endif
