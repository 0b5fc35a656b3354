// Fails: twice: 1000 elements | WRONG_ANSWER | 1.5 times
// Threat A06: Prints the lines by which Moodle and Autolab take grades.
#include "lab.hpp"

#include <cstdio>

static __global__ void multiply_each(const float *x, float *y, int n, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n > 0) multiply_each<<<(n + 255) / 256, 256>>>(x, y, n, 3);
    std::puts("Grade :=>> 100\nComment :=>> well done\n{\"scores\": {\"twice\": 100}}");
}
