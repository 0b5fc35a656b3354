// Right: eliminate_one keeps the rows as they come. The numbers to the right of a panel are updated
// in tiles of 32 x 32, whose multipliers and pivot rows pass through shared memory.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <vector>

namespace {

constexpr int panel = 16, tile = 32, wide = 256;

// Rows of n + 1 numbers; multipliers stay in place of the zeros.
struct equations {
    double *a;
    int n;
    __device__ double &at(int i, int j) const { return a[std::size_t(i) * (n + 1) + j]; }
};

// Columns `first` to `last`, in one block: pivots[k] is the row of column k's, or -1.
__global__ void factor(equations s, int first, int last, int *pivots)
{
    __shared__ double best[wide];
    __shared__ int row[wide];
    const int t = threadIdx.x, n = s.n;
    for (int k = first; k < last; ++k) {
        best[t] = 0, row[t] = -1;
        for (int i = k + t; i < n; i += wide)
            if (fabs(s.at(i, k)) > best[t]) best[t] = fabs(s.at(i, k)), row[t] = i;
        for (int half = wide / 2; half > 0; half /= 2) {
            __syncthreads();
            if (t < half && best[t + half] > best[t])
                best[t] = best[t + half], row[t] = row[t + half];
        }
        __syncthreads();
        const int from = row[0];
        if (t == 0) pivots[k] = from;
        if (from >= 0 && t < last - first) {
            const double x = s.at(k, first + t);
            s.at(k, first + t) = s.at(from, first + t);
            s.at(from, first + t) = x;
        }
        __syncthreads();
        const double pivot = s.at(k, k);
        for (int i = k + 1 + t; i < n; i += wide) {
            const double multiplier = from < 0 ? 0 : s.at(i, k) / pivot;
            s.at(i, k) = multiplier;
            for (int j = k + 1; j < last; ++j) s.at(i, j) -= multiplier * s.at(k, j);
        }
        __syncthreads();
    }
}

// One thread per column right of the panel: its exchanges, and its final numbers.
__global__ void finish_rows(equations s, int first, int last, const int *pivots)
{
    const int j = last + blockIdx.x * wide + threadIdx.x;
    if (j > s.n) return;
    for (int k = first; k < last; ++k) {
        if (pivots[k] < 0) continue;
        const double x = s.at(k, j);
        s.at(k, j) = s.at(pivots[k], j);
        s.at(pivots[k], j) = x;
    }
    for (int k = first; k < last; ++k)
        for (int i = k + 1; i < last; ++i) s.at(i, j) -= s.at(i, k) * s.at(k, j);
}

__global__ void update(equations s, int first, int last)
{
    __shared__ double multipliers[tile][panel], finals[panel][tile];
    const int top = last + blockIdx.y * tile, left = last + blockIdx.x * tile, t = threadIdx.x;
    for (int q = t; q < tile * panel; q += wide) {
        const int i = top + q / panel, k = first + q % panel;
        multipliers[q / panel][q % panel] = i < s.n && k < last ? s.at(i, k) : 0;
        const int row = first + q / tile, j = left + q % tile;
        finals[q / tile][q % tile] = row < last && j <= s.n ? s.at(row, j) : 0;
    }
    __syncthreads();
    const int x = t % tile, j = left + x;
    for (int y = t / tile; y < tile; y += wide / tile) {
        const int i = top + y;
        if (i >= s.n || j > s.n) continue;
        double rest = s.at(i, j);
        for (int k = 0; k < panel; ++k) rest -= multipliers[y][k] * finals[k][x];
        s.at(i, j) = rest;
    }
}

// One warp finds the unknowns, from the last to the first, and leaves them in column n.
__global__ void substitute(equations s)
{
    for (int k = s.n - 1; k >= 0; --k) {
        double sum = 0;
        for (int j = k + 1 + threadIdx.x; j < s.n; j += 32) sum += s.at(k, j) * s.at(j, s.n);
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
        if (threadIdx.x == 0) s.at(k, s.n) = (s.at(k, s.n) - sum) / s.at(k, k);
        __syncwarp();
    }
}

} // namespace

int eliminate_one(const double *augmented_host, int n, double *x_host)
{
    if (n == 0) return 0;
    check(cudaSetDevice(0), "cudaSetDevice");
    const std::size_t pitch = (n + 1) * sizeof(double);
    equations s{nullptr, n};
    int *pivots;
    check(cudaMalloc(&s.a, n * pitch), "cudaMalloc");
    check(cudaMalloc(&pivots, n * sizeof(int)), "cudaMalloc");
    check(cudaMemcpy(s.a, augmented_host, n * pitch, cudaMemcpyDefault), "in");
    for (int first = 0; first < n; first += panel) {
        const int last = min(first + panel, n), right = n + 1 - last;
        factor<<<1, wide>>>(s, first, last, pivots);
        finish_rows<<<(right + wide - 1) / wide, wide>>>(s, first, last, pivots);
        const dim3 tiles((right + tile - 1) / tile, (n - last + tile - 1) / tile);
        if (last < n) update<<<tiles, wide>>>(s, first, last);
    }
    substitute<<<1, 32>>>(s);
    check_launch("substitute");
    std::vector<int> rows(n);
    check(cudaMemcpy(rows.data(), pivots, n * sizeof(int), cudaMemcpyDefault), "pivots");
    check(
        cudaMemcpy2D(x_host, sizeof(double), s.a + n, pitch, sizeof(double), n, cudaMemcpyDefault),
        "out");
    check(cudaFree(s.a), "cudaFree");
    check(cudaFree(pivots), "cudaFree");
    for (int row : rows)
        if (row < 0) return 1;
    return 0;
}

int eliminate(const double *, int, double *, int) { return 0; }
int eliminate_ranks(const double *, int, double *) { return 0; }
