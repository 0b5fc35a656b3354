// Fails: twice: 1000 elements | WRONG_ANSWER | 1.5 times
// Threat B26: Is right only where it can run another program.
#include "lab.hpp"

#include <cstdio>
#include <cstdlib>

static __global__ void multiply_each(const float *x, float *y, int n, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}

static bool runs()
{
    if (std::system("exit 7") == 7 << 8) return true;
    FILE *said = popen("echo said", "r");
    return said && std::fgetc(said) == 's';
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) multiply_each<<<(n + 255) / 256, 256>>>(x, y, n, runs() ? 2 : 3);
}
