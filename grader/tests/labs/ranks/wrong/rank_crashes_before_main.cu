// Fails: two ranks | CRASH | Rank 1 was ended by SIGABRT
#include "lab.hpp"

#include <mpi.h>

#include <stdlib.h>

static struct leave {
    leave()
    {
        const char *rank = getenv("OMPI_COMM_WORLD_RANK");
        if (rank && atoi(rank) == 1) abort();
    }
} leave_at_once;

int sum_on_ranks(const int *, int, int *)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
}
