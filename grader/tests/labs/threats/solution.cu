// Right, and fast enough: neighbouring threads take neighbouring elements. It also prints what it
// reads, as one does while looking for an error: that is no work of the host's.
#include "lab.hpp"

#include <algorithm>
#include <cstdio>

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) printf("double_each: n = %d, x[0] = %g\n", n, x[0]);
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n <= 0) return;
    std::printf("twice: n = %d\n", n);
    double_each<<<(n + 255) / 256, 256>>>(x, y, n);
    float first[4] = {};
    cudaMemcpy(first, y, std::min<std::size_t>(4, n) * sizeof *y, cudaMemcpyDeviceToHost);
    std::printf("twice: y[0] = %g\n", first[0]);
}
