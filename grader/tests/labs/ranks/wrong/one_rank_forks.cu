// Fails: two ranks | PROTOCOL_ERROR | disturbed by rank 1
#include "lab.hpp"

#include <mpi.h>

#include <unistd.h>

int sum_on_ranks(const int *, int, int *sum_host)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (sum_host) *sum_host = 0;
    if (rank == 1) fork(); // both come back to the worker
    return ranks;
}
