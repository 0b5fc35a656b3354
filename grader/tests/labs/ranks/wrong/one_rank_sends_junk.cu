// Fails: two ranks | PROTOCOL_ERROR | disturbed by rank 1
#include "lab.hpp"

#include <mpi.h>

#include <sys/socket.h>

int sum_on_ranks(const int *, int, int *)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char junk[2000] = {};
    if (rank == 1) send(3, junk, sizeof junk, 0);
    return ranks;
}
