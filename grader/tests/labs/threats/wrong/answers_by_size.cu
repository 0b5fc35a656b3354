// Fails: twice: again and again | WRONG_ANSWER | elements are wrong
// Threat E03: Has answered a call of this size before, and answers the same.
#include "lab.hpp"

#include <map>

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    static std::map<int, float *> answers;
    if (n == 0) return;
    float *&answer = answers[n];
    if (!answer) {
        cudaMalloc(&answer, n * sizeof(float));
        double_each<<<(n + 255) / 256, 256>>>(x, answer, n);
    }
    cudaMemcpy(y, answer, n * sizeof(float), cudaMemcpyDeviceToDevice);
}
