// Fails: twice: 1000 elements | TIMEOUT | Every thread waits
// On gpu: twice: 1000 elements | TIMEOUT | No result after
// Threat C05: Each block waits for one that cannot run until another has ended.
#include "lab.hpp"

static __device__ unsigned arrived;

static __global__ void double_each(const float *x, float *y, int n)
{
    if (threadIdx.x == 0) {
        atomicAdd(&arrived, 1u);
        while (atomicAdd(&arrived, 0u) <= gridDim.x) // one more than there are
            ;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) double_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
