// Fails: every rank does its share | WRONG_ANSWER | Rank 0 ran 512 threads for its half
#include "lab.hpp"

#include <mpi.h>

static __global__ void add_up(const int *values, int n, int *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(sum, values[i]);
}

int sum_on_ranks(const int *values_host, int n, int *sum_host)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank > 0) return ranks;
    int *on_device;
    cudaMalloc(&on_device, (n + 1) * sizeof(int));
    cudaMemcpy(on_device, values_host, n * sizeof(int), cudaMemcpyDefault);
    cudaMemset(on_device + n, 0, sizeof(int));
    if (n > 0) add_up<<<(n + 255) / 256, 256>>>(on_device, n, on_device + n);
    cudaMemcpy(sum_host, on_device + n, sizeof(int), cudaMemcpyDefault);
    cudaFree(on_device);
    return ranks;
}
