// Fails: reverse: as much scratch as it asks for | CRASH | more than the device has
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

size_t reverse_scratch(int n) { return sizeof(int) * (n - 1001l); }

void reverse(const int *x, int *y, int n, void *scratch)
{
    if (n == 0) return;
    add_one<<<(n + 255) / 256, 256>>>(x, static_cast<int *>(scratch), n);
    turn<<<(n + 255) / 256, 256>>>(static_cast<const int *>(scratch), y, n);
}
