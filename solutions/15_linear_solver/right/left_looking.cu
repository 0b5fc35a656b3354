// Right: eliminate_one looks to the left: a panel of 8 columns is loaded once, gets all earlier
// exchanges and multipliers, finds its own pivots, and is stored once; then the next panel.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <memory>

namespace {

constexpr int panel = 8, wide = 256;

// Column-major, n numbers per column; the right-hand side is column n.
__global__ void take_columns(const double *rows, double *a, int n)
{
    for (int i = threadIdx.x; i < n; i += wide)
        a[std::size_t(blockIdx.x) * n + i] = rows[i * std::size_t(n + 1) + blockIdx.x];
}

// Applies to columns `first` to `last` the exchanges and multipliers of all columns before them, of
// which there are `done`. One block: later rows need the final numbers of earlier ones.
__device__ void catch_up(double *a, int n, int first, int last, int done, const int *pivots)
{
    const int t = threadIdx.x;
    __shared__ double final_rows[panel][panel];
    for (int j = first + t; j < last; j += wide) // one thread per column
        for (int k = 0; k < done; ++k) {
            double *column = a + std::size_t(j) * n, x = column[k];
            column[k] = column[pivots[k]];
            column[pivots[k]] = x;
        }
    __syncthreads();
    for (int k = 0; k < done; k += panel) { // `done` is a multiple of panel, or n
        const int height = min(panel, done - k);
        if (t < last - first) {
            double *column = a + std::size_t(first + t) * n;
            for (int r = 0; r < height; ++r) {
                double x = column[k + r];
                for (int q = 0; q < r; ++q)
                    x -= a[std::size_t(k + q) * n + k + r] * final_rows[t][q];
                final_rows[t][r] = column[k + r] = x;
            }
        }
        __syncthreads();
        for (int i = k + height + t; i < n; i += wide) {
            double multipliers[panel];
            for (int q = 0; q < height; ++q) multipliers[q] = a[std::size_t(k + q) * n + i];
            for (int j = first; j < last; ++j) {
                double x = a[std::size_t(j) * n + i];
                for (int q = 0; q < height; ++q) x -= multipliers[q] * final_rows[j - first][q];
                a[std::size_t(j) * n + i] = x;
            }
        }
        __syncthreads();
    }
}

// Finds the pivots of columns `first` to `last`. *singular becomes 1 if one has none.
__global__ void next_panel(double *a, int n, int first, int last, int *pivots, int *singular)
{
    __shared__ double best[wide];
    __shared__ int row[wide];
    const int t = threadIdx.x;
    catch_up(a, n, first, last, first, pivots);
    for (int k = first; k < last; ++k) {
        double *column = a + std::size_t(k) * n;
        best[t] = 0, row[t] = k;
        for (int i = k + t; i < n; i += wide)
            if (fabs(column[i]) > best[t]) best[t] = fabs(column[i]), row[t] = i;
        for (int half = wide / 2; half > 0; half /= 2) {
            __syncthreads();
            if (t < half && best[t + half] > best[t])
                best[t] = best[t + half], row[t] = row[t + half];
        }
        __syncthreads();
        const int from = row[0];
        if (best[0] == 0 && t == 0) *singular = 1;
        if (best[0] == 0) return;
        if (t == 0) pivots[k] = from;
        for (int j = t; j < last; j += wide) { // also in the multipliers to the left
            double *c = a + std::size_t(j) * n, x = c[k];
            c[k] = c[from];
            c[from] = x;
        }
        __syncthreads();
        for (int i = k + 1 + t; i < n; i += wide) {
            const double multiplier = column[i] / column[k];
            column[i] = multiplier;
            for (int j = k + 1; j < last; ++j)
                a[std::size_t(j) * n + i] -= multiplier * a[std::size_t(j) * n + k];
        }
        __syncthreads();
    }
}

__global__ void last_column(double *a, int n, const int *pivots)
{
    catch_up(a, n, n, n + 1, n, pivots);
}

// The last unknown first, in one block.
__global__ void substitute(double *a, int n)
{
    double *y = a + std::size_t(n) * n;
    for (int k = n - 1; k >= 0; --k) {
        const double *column = a + std::size_t(k) * n;
        const double unknown = y[k] / column[k];
        __syncthreads();
        if (threadIdx.x == 0) y[k] = unknown;
        for (int i = threadIdx.x; i < k; i += wide) y[i] -= column[i] * unknown;
        __syncthreads();
    }
}

struct device_free {
    void operator()(void *memory) const { cudaFree(memory); }
};

template <class T> std::unique_ptr<T, device_free> device_memory(std::size_t n)
{
    T *memory = nullptr;
    check(cudaMalloc(&memory, n * sizeof(T)), "cudaMalloc");
    return std::unique_ptr<T, device_free>(memory);
}

} // namespace

int eliminate_one(const double *augmented_host, int n, double *x_host)
{
    if (n == 0) return 0;
    check(cudaSetDevice(0), "cudaSetDevice");
    const std::size_t all = std::size_t(n) * (n + 1);
    auto rows = device_memory<double>(all), a = device_memory<double>(all);
    auto pivots = device_memory<int>(n + 1); // the last one says whether a column had none
    int *singular = pivots.get() + n;
    check(cudaMemcpy(rows.get(), augmented_host, all * sizeof(double), cudaMemcpyDefault), "in");
    check(cudaMemset(singular, 0, sizeof(int)), "cudaMemset");
    take_columns<<<n + 1, wide>>>(rows.get(), a.get(), n);
    // A panel without a pivot leaves its pivots unwritten: the next ones must not look for them.
    int found = 0;
    for (int first = 0; first < n && found == 0; first += panel) {
        next_panel<<<1, wide>>>(a.get(), n, first, min(first + panel, n), pivots.get(), singular);
        check_launch("next_panel");
        check(cudaMemcpy(&found, singular, sizeof(int), cudaMemcpyDefault), "found");
    }
    if (found) return 1;
    last_column<<<1, wide>>>(a.get(), n, pivots.get());
    substitute<<<1, wide>>>(a.get(), n);
    check_launch("substitute");
    check(cudaMemcpy(x_host, a.get() + std::size_t(n) * n, n * sizeof(double), cudaMemcpyDefault),
          "out");
    return 0;
}

int eliminate(const double *, int, double *, int) { return 0; }
int eliminate_ranks(const double *, int, double *) { return 0; }
