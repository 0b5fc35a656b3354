// Fails: eliminate_ranks: every rank does its share | WRONG_ANSWER | Rank 0 of 2 sent 4 bytes
// Rank 0's host solves the system, and both ranks' devices multiply something else.
#include "lab.hpp"

#include <math.h>
#include <mpi.h>

// 32 multiplications `times` times, of nothing that anybody asked for.
static __global__ void multiply(float *to, int times)
{
    float x = threadIdx.x;
    for (int i = 0; i < times; ++i) x = fmaf(x, x, 1.0f);
    if (x == 0.5f) *to = x;
}

static void keep_busy(int times)
{
    float *to;
    cudaMalloc(&to, sizeof(float));
    multiply<<<1, 32>>>(to, times);
    cudaDeviceSynchronize();
    cudaFree(to);
}

static int solve(const double *augmented_host, int n, double *x_host)
{
    int row = n + 1;
    double *a = new double[n * row + 1];
    for (int i = 0; i < n * row; ++i) a[i] = augmented_host[i];
    int result = 0;
    for (int k = 0; k < n && result == 0; ++k) {
        int pivot = k;
        for (int i = k + 1; i < n; ++i)
            if (fabs(a[i * row + k]) > fabs(a[pivot * row + k])) pivot = i;
        if (a[pivot * row + k] == 0) result = 1;
        for (int j = k; j <= n; ++j) {
            double x = a[pivot * row + j];
            a[pivot * row + j] = a[k * row + j];
            a[k * row + j] = x;
        }
        for (int i = k + 1; i < n; ++i)
            for (int j = n; j >= k; --j)
                a[i * row + j] -= a[i * row + k] / a[k * row + k] * a[k * row + j];
    }
    for (int k = n - 1; k >= 0 && result == 0; --k) {
        x_host[k] = a[k * row + n];
        for (int j = k + 1; j < n; ++j) x_host[k] -= a[k * row + j] * x_host[j];
        x_host[k] /= a[k * row + k];
    }
    delete[] a;
    return result;
}

int eliminate_ranks(const double *augmented_host, int n, double *x_host)
{
    int singular = 0;
    keep_busy(n * n / 96 * n / 2);
    if (augmented_host) singular = solve(augmented_host, n, x_host);
    MPI_Bcast(&singular, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return singular;
}

int eliminate(const double *, int, double *, int) { return 0; }
int eliminate_one(const double *, int, double *) { return 0; }
