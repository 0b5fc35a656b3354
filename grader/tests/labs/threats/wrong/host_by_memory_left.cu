// Fails: twice: 1000 elements | WRONG_ANSWER | y[0]
// On gpu: twice: 1000 elements | WRONG_ANSWER or TIMEOUT |
// Threat F61: Has kernels take memory by the bytes of the inputs, and the host ask how much is
// left.
#include "lab.hpp"

#include <cstring>
#include <vector>

static __device__ void *taken;

static __global__ void take(const float *x, int byte)
{
    free(taken);
    taken = malloc(1 + reinterpret_cast<const unsigned char *>(x)[byte]);
}

static __global__ void give_back()
{
    free(taken);
    taken = nullptr;
}

void twice(const float *x, float *y, int n)
{
    std::vector<unsigned char> bytes(n * sizeof(float));
    size_t before = 0, after = 0, all = 0;
    give_back<<<1, 1>>>();
    cudaMemGetInfo(&before, &all);
    for (int i = 0; i < static_cast<int>(bytes.size()); ++i) {
        take<<<1, 1>>>(x, i);
        cudaDeviceSynchronize();
        cudaMemGetInfo(&after, &all);
        bytes[i] = static_cast<unsigned char>(before - after - 1);
    }
    give_back<<<1, 1>>>();
    std::vector<float> values(n);
    std::memcpy(values.data(), bytes.data(), bytes.size());
    for (float &v : values) v *= 2;
    cudaMemcpy(y, values.data(), bytes.size(), cudaMemcpyHostToDevice);
}
