// Fails: twice: 1000 elements | WRONG_ANSWER | elements are wrong
// Threat D03: Hands out what earlier calls left in memory.
#include "lab.hpp"

void twice(const float *, float *y, int n)
{
    float *found = nullptr;
    if (n == 0 || cudaMalloc(&found, n * sizeof(float)) != cudaSuccess) return;
    cudaMemcpy(y, found, n * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaFree(found);
}
