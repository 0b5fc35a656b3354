// Fails: twice: 1000 elements | WRONG_ANSWER | 1.5 times
// Threat F69: Is right only where it can make semaphores, which outlive every process.
#include "lab.hpp"

#include <sys/ipc.h>
#include <sys/sem.h>

static __global__ void multiply_each(const float *x, float *y, int n, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}

static bool makes_semaphores()
{
    const int made = semget(IPC_PRIVATE, 1, 0600);
    return made >= 0 && semctl(made, 0, IPC_RMID) == 0;
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) multiply_each<<<(n + 255) / 256, 256>>>(x, y, n, makes_semaphores() ? 2 : 3);
}
