// Fails: two ranks | PROTOCOL_ERROR | disturbed by rank 1
#include "lab.hpp"

#include <mpi.h>

#include <unistd.h>

int sum_on_ranks(const int *, int, int *)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int file = 0; rank == 1 && file < 1024; ++file) close(file);
    return ranks;
}
