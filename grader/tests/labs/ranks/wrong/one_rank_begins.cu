// Fails: two ranks | CRASH | MPI ended rank 1 while calling sum_on_ranks: MPI_Init_thread was
// called
#include "lab.hpp"

#include <mpi.h>

int sum_on_ranks(const int *, int, int *)
{
    int rank, level;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
    return 2;
}
