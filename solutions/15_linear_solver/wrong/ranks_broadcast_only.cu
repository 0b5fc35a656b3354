// Fails: eliminate_ranks: every rank does its share | WRONG_ANSWER | it did all the work
// A broadcast, and no more: every rank has the whole system, and solves it.
#include "lab.hpp"

#include <math.h>
#include <mpi.h>

// A whole system of n rows in the memory of this rank's device, solved there.
static __global__ void exchange(double *a, int n, int k, int row)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j > n) return;
    double x = a[k * (n + 1) + j];
    a[k * (n + 1) + j] = a[row * (n + 1) + j];
    a[row * (n + 1) + j] = x;
}

static __global__ void subtract(double *a, int n, int k)
{
    int i = k + 1 + blockIdx.y, j = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (j > n) return;
    a[i * (n + 1) + j] -= a[i * (n + 1) + k] / a[k * (n + 1) + k] * a[k * (n + 1) + j];
}

static int solve(const double *system, int n, double *x)
{
    size_t numbers = size_t(n) * (n + 1);
    double *a, *host = new double[numbers];
    cudaMalloc(&a, sizeof(double) * numbers);
    cudaMemcpy(a, system, sizeof(double) * numbers, cudaMemcpyDefault);
    int result = 0;
    for (int k = 0; k < n && result == 0; ++k) {
        cudaMemcpy(host, a, sizeof(double) * numbers, cudaMemcpyDefault);
        int row = k;
        for (int i = k + 1; i < n; ++i)
            if (fabs(host[i * (n + 1) + k]) > fabs(host[row * (n + 1) + k])) row = i;
        if (host[row * (n + 1) + k] == 0) result = 1;
        exchange<<<(n + 256) / 256, 256>>>(a, n, k, row);
        if (k < n - 1) subtract<<<dim3((n - k + 255) / 256, n - k - 1), 256>>>(a, n, k);
    }
    cudaMemcpy(host, a, sizeof(double) * numbers, cudaMemcpyDefault);
    cudaFree(a);
    for (int k = n - 1; k >= 0 && result == 0; --k) {
        x[k] = host[k * (n + 1) + n];
        for (int j = k + 1; j < n; ++j) x[k] -= host[k * (n + 1) + j] * x[j];
        x[k] /= host[k * (n + 1) + k];
    }
    delete[] host;
    return result;
}

int eliminate_ranks(const double *augmented_host, int n, double *x_host)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *system = new double[size_t(n) * (n + 1)], *x = new double[n];
    for (int i = 0; rank == 0 && i < n * (n + 1); ++i) system[i] = augmented_host[i];
    MPI_Bcast(system, n * (n + 1), MPI_DOUBLE, 0, MPI_COMM_WORLD);
    int result = solve(system, n, x);
    for (int i = 0; rank == 0 && i < n; ++i) x_host[i] = x[i];
    delete[] system;
    delete[] x;
    return result;
}

int eliminate(const double *, int, double *, int) { return 0; }
int eliminate_one(const double *, int, double *) { return 0; }
