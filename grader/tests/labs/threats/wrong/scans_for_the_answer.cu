// Fails: twice: 1000 elements | CUDA_ERROR |
// Threat D15: Looks in device memory for values that could be the answer.
#include "lab.hpp"

static __global__ void look_around(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float *all = x - (1 << 28);
    for (int k = 0; k < 1 << 29; ++k)
        if (all + k != x + i && all[k] == 2 * x[i]) y[i] = all[k];
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) look_around<<<(n + 255) / 256, 256>>>(x, y, n);
}
