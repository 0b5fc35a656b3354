// Fails: eliminate_ranks: a tiny first pivot, and an ill-conditioned system | WRONG_ANSWER | 1e-20
// No pivoting: row k is the pivot's, whatever it holds.
#include "lab.hpp"

#include <math.h>
#include <mpi.h>

int eliminate_ranks(const double *augmented_host, int n, double *x_host)
{
    int ranks, rank, width = n + 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *a = new double[n * width], *multipliers = new double[n + 1];
    for (int i = 0; rank == 0 && i < n * width; ++i) a[i] = augmented_host[i];
    MPI_Bcast(a, n * width, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int k = 0; k < n; ++k) { // column j is rank j % ranks's
        if (rank == k % ranks) {
            int row = k;
            multipliers[n] = row;
            for (int i = 0; i < n; ++i) {
                int from = i == row ? k : i == k ? row : i; // after the exchange
                multipliers[i] = a[from * width + k] / a[row * width + k];
            }
        }
        MPI_Bcast(multipliers, n + 1, MPI_DOUBLE, k % ranks, MPI_COMM_WORLD);
        int row = int(multipliers[n]);
        for (int j = k; j <= n; ++j) {
            if (j % ranks != rank) continue;
            double x = a[row * width + j];
            a[row * width + j] = a[k * width + j];
            a[k * width + j] = x;
            for (int i = k + 1; i < n; ++i) a[i * width + j] -= multipliers[i] * x;
        }
    }
    for (int j = 0; j <= n; ++j)
        for (int i = 0; i < n; ++i)
            MPI_Bcast(&a[i * width + j], 1, MPI_DOUBLE, j % ranks, MPI_COMM_WORLD);
    for (int k = n - 1; k >= 0 && rank == 0; --k) {
        x_host[k] = a[k * width + n];
        for (int j = k + 1; j < n; ++j) x_host[k] -= a[k * width + j] * x_host[j];
        x_host[k] /= a[k * width + k];
    }
    delete[] a;
    delete[] multipliers;
    return 0;
}

int eliminate(const double *, int, double *, int) { return 0; }
int eliminate_one(const double *, int, double *) { return 0; }
