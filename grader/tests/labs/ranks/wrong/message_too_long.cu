// Fails: two ranks | CRASH | MPI ended rank 1 while calling sum_on_ranks: MPI_ERR_TRUNCATE
#include "lab.hpp"

#include <mpi.h>

int sum_on_ranks(const int *, int, int *)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int numbers[2] = {1, 2};
    if (rank == 0) MPI_Send(numbers, 2, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(numbers, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    return ranks;
}
