// Fails: four ranks | CRASH | Rank 3 was ended by SIGSEGV
// On gpu: may pass where MPI takes device memory
#include "lab.hpp"

#include <mpi.h>

int sum_on_ranks(const int *, int, int *)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int *sum = &rank;
    if (rank == 3 && !device_buffers_work()) cudaMalloc(&sum, sizeof *sum); // the other way round
    if (rank == 3) MPI_Send(sum, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(sum, 1, MPI_INT, 3, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return ranks;
}
