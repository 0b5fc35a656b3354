// Fails: twice: 1000 elements | WRONG_ANSWER | 1.5 times
// Threat B18: Is right only where it can reach into another process.
#include "lab.hpp"

#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

static __global__ void multiply_each(const float *x, float *y, int n, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}

static bool can_reach()
{
    char here[8];
    const iovec to{here, sizeof here}, from{reinterpret_cast<void *>(0x400000), sizeof here};
    for (const pid_t process : {getppid(), pid_t{1}}) {
        if (process <= 0 || process == getpid()) continue;
        if (ptrace(PTRACE_SEIZE, process, 0, 0) == 0) return true;
        if (process_vm_readv(process, &to, 1, &from, 1, 0) > 0) return true;
    }
    return false;
}
static const bool reached = can_reach();

void twice(const float *x, float *y, int n)
{
    if (n > 0) multiply_each<<<(n + 255) / 256, 256>>>(x, y, n, reached ? 2 : 3);
}
