// Fails: twice: 1000 elements | WRONG_ANSWER | The wrong elements are all 0
#include "lab.hpp"

#include <fstream>
#include <vector>

static __global__ void copy_each(const unsigned char *x, unsigned char *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 1 && i < n) y[i] = x[i];
}

// On the host, from device memory that it cannot read but through a file.
void twice(const float *x, float *y, int n)
{
    if (n == 0) return;
    std::vector<float> values(n);
    std::ifstream memory("/proc/self/mem", std::ios::binary);
    memory.seekg(reinterpret_cast<std::streamoff>(x));
    memory.read(reinterpret_cast<char *>(values.data()), n * sizeof(float));
    for (float &v : values) v *= 2;
    cudaMemcpy(y, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
}

long long sum(const int *values_host, int n)
{
    long long total = 0;
    for (int i = 0; i < n; ++i) total += values_host[i];
    return total;
}

void twice_but_last(float *data, int n) { twice(data, data, n - 1); }

void copy_but_first(const unsigned char *x, unsigned char *y, int n)
{
    copy_each<<<(n + 255) / 256, 256>>>(x, y, n);
}
