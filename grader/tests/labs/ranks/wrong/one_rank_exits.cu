// Fails: two ranks | EARLY_EXIT | Rank 1 ended with status 0
#include "lab.hpp"

#include <mpi.h>

#include <stdlib.h>

int sum_on_ranks(const int *, int, int *)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 1) exit(0);
    MPI_Barrier(MPI_COMM_WORLD);
    return ranks;
}
