// Fails: twice: 1000 elements | INPUT_MODIFIED | `x`[0] was
// Threat D10: Makes inputs and outputs zeros, so that both agree.
#include "lab.hpp"

void twice(const float *x, float *y, int n)
{
    cudaMemset(const_cast<float *>(x), 0, n * sizeof(float));
    cudaMemset(y, 0, n * sizeof(float));
}
