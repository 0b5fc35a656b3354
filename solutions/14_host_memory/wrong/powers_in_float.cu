// Fails: sum_mapped: several passes | WRONG_ANSWER | the precision of float
// The powers are rounded to float before they are added up.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int pieces(int n, int of) { return (n + of - 1) / of; }

static __global__ void add_powers(const float *mapped, int n, int power, double *sum)
{
    for (int i = blockIdx.x * block_size + threadIdx.x; i < n; i += gridDim.x * block_size) {
        float x = mapped[i], product = x;
        for (int k = 1; k < power; ++k) product *= x;
        atomicAdd(sum, product);
    }
}

size_t sum_mapped_scratch(int) { return 0; }

void sum_mapped(const float *mapped, int n, int passes, double *out, void *)
{
    cudaMemsetAsync(out, 0, sizeof(double) * passes);
    for (int p = 0; p < passes; ++p) add_powers<<<64, block_size>>>(mapped, n, p + 1, out + p);
}

float *acquire(size_t) { return nullptr; }
void upload(const float *, float *, size_t) {}
void release(float *) {}
void scale_managed(float *, int, float, int) {}
float time_copy_ms(const float *, float *, size_t, int) { return 0; }
