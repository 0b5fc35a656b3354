// Fails: two ranks | CUDA_ERROR | Rank 1: Kernel one_too_many
// On gpu: two ranks | NOT_WRITTEN |
#include "lab.hpp"

#include <mpi.h>

static __global__ void one_too_many(int *values) { values[threadIdx.x] = 1; }

int sum_on_ranks(const int *, int, int *)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int *values;
    cudaMalloc(&values, 32 * sizeof(int));
    one_too_many<<<1, 32 + rank>>>(values);
    cudaFree(values);
    return ranks;
}
