// Fails: eliminate: who works, who waits | TOO_SLOW | on the busiest of four devices
// The host solves the system, while one device multiplies something else.
#include "lab.hpp"

#include <math.h>

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

int eliminate(const double *augmented_host, int n, double *x_host, int)
{
    keep_busy(n * n / 96 * n);
    return solve(augmented_host, n, x_host);
}

int eliminate_ranks(const double *, int, double *) { return 0; }
int eliminate_one(const double *, int, double *) { return 0; }
