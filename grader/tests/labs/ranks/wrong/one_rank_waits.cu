// Fails: two ranks | TIMEOUT | rank 1 did not return, rank 0 did
#include "lab.hpp"

#include <mpi.h>

int sum_on_ranks(const int *values_host, int n, int *sum_host)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int other = 0;
    if (rank == 1) MPI_Recv(&other, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; rank == 0 && i < n; ++i) other += values_host[i];
    if (rank == 0) *sum_host = other;
    return ranks;
}
