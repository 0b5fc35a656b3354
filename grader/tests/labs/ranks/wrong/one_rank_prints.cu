// Fails: two ranks | OUTPUT_LIMIT | more than 8 MiB
#include "lab.hpp"

#include <mpi.h>

#include <stdio.h>

int sum_on_ranks(const int *, int, int *)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; rank == 1 && i < 300000; ++i)
        printf("line %d of rank 1, one of a great many\n", i);
    return ranks;
}
