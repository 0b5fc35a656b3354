// Fails: twice: coalesced | IMPLAUSIBLE | the host may work on them
// On gpu: twice: coalesced | TOO_SLOW |
// Threat E04: Knows its inputs again by their bytes, and answers from memory.
#include "lab.hpp"

#include <vector>

static __global__ void double_each(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

void twice(const float *x, float *y, int n)
{
    static std::vector<float> known, answer;
    if (n == 0) return;
    std::vector<float> question(n);
    cudaMemcpy(question.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
    if (question != known) {
        double_each<<<(n + 255) / 256, 256>>>(x, y, n);
        answer.resize(n);
        cudaMemcpy(answer.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost);
        known = question;
    } else
        cudaMemcpy(y, answer.data(), n * sizeof(float), cudaMemcpyHostToDevice);
}
