// Twice as much scratch as is needed, and a value of its own for every step.
#include "lab.hpp"

static __global__ void add_one(const int *x, int *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = x[i] + 1;
}

static __global__ void turn(const int *from, int *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[n - 1 - i];
}

static __global__ void copy(const int *from, int *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}

size_t reverse_scratch(int n) { return 2 * sizeof(int) * n; }

void reverse(const int *x, int *y, int n, void *scratch)
{
    if (n == 0) return;
    int *first = static_cast<int *>(scratch), *second = first + n, blocks = (n + 255) / 256;
    add_one<<<blocks, 256>>>(x, first, n);
    turn<<<blocks, 256>>>(first, second, n);
    copy<<<blocks, 256>>>(second, y, n);
}
