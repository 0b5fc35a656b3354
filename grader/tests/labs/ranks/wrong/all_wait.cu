// Fails: four ranks | TIMEOUT | none of them has returned
#include "lab.hpp"

#include <mpi.h>

int sum_on_ranks(const int *, int, int *)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Recv(&rank, 1, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return ranks;
}
