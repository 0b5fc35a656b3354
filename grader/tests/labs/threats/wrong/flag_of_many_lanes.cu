// Fails: twice: 1000 elements | NONDETERMINISTIC | was late to see a store
// On gpu: may pass - stores seldom come late there
// Threat F64: Hands a value over unfenced: stored as 8 bytes, read as 4, told of by two lanes.
#include "lab.hpp"

static __global__ void clear(unsigned long long *value, int *flag)
{
    if (threadIdx.x < 128) value[threadIdx.x] = 0;
    flag[threadIdx.x] = 0;
}

static __global__ void double_each(const float *x, float *y, int n, unsigned long long *value,
                                   int *flag)
{
    __shared__ int factor;
    const int t = threadIdx.x, b = blockIdx.x;
    if (t < 2) {
        if (t == 0 && b > 0) {
            while (!reinterpret_cast<volatile int *>(flag)[b - 1]) {
            }
            factor = reinterpret_cast<volatile int *>(value)[2 * (b - 1)];
        }
        if (t == 0 && b == 0) factor = 2;
        if (t == 0) reinterpret_cast<volatile unsigned long long *>(value)[b] = factor;
        atomicExch(flag + (t == 0 ? b : 128 + b), 1);
    }
    __syncthreads();
    for (int i = 256 * b + t; i < n; i += 256 * gridDim.x) y[i] = factor * x[i];
}

void twice(const float *x, float *y, int n)
{
    if (n <= 0) return;
    const int blocks = min((n + 255) / 256, 128);
    static char *scratch = nullptr;
    if (scratch == nullptr) cudaMalloc(&scratch, 128 * 16);
    auto value = reinterpret_cast<unsigned long long *>(scratch);
    auto flag = reinterpret_cast<int *>(scratch + 128 * 8);
    clear<<<1, 256>>>(value, flag);
    double_each<<<blocks, 256>>>(x, y, n, value, flag);
}
