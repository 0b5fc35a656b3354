// Fails: eliminate_one: pivots that are too small | WRONG_ANSWER | a negative number of greater
// Numbers are compared by value, not by magnitude.
#include "lab.hpp"

int eliminate_one(const double *augmented_host, int n, double *x_host)
{
    int row = n + 1;
    double *a = new double[n * row + 1];
    for (int i = 0; i < n * row; ++i) a[i] = augmented_host[i];
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k + 1; i < n; ++i)
            if (a[i * row + k] > a[pivot * row + k]) pivot = i;

        for (int j = k; j <= n; ++j) {
            double x = a[pivot * row + j];
            a[pivot * row + j] = a[k * row + j];
            a[k * row + j] = x;
        }
        for (int i = k + 1; i < n; ++i)
            for (int j = n; j >= k; --j)
                a[i * row + j] -= a[i * row + k] / a[k * row + k] * a[k * row + j];
    }
    for (int k = n - 1; k >= 0; --k) {
        x_host[k] = a[k * row + n];
        for (int j = k + 1; j < n; ++j) x_host[k] -= a[k * row + j] * x_host[j];
        x_host[k] /= a[k * row + k];
    }
    delete[] a;
    return 0;
}

int eliminate(const double *augmented_host, int n, double *x_host, int)
{
    return eliminate_one(augmented_host, n, x_host);
}

int eliminate_ranks(const double *, int, double *) { return 0; }
