// Fails: scale_managed: speed | TOO_SLOW | compulsory bytes per element
// On gpu: may pass - nothing there tells what a kernel wrote
// The host scales managed memory. A kernel, for which all of it is prefetched, multiplies and
// writes nothing.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void multiply(const float *managed, int n, float factor, int rounds, float *never)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float x = managed[i];
    for (int k = 0; k < rounds; ++k) x *= factor;
    if (x == 1.23456e38f) *never = x;
}

void scale_managed(float *managed, int n, float factor, int rounds)
{
    for (int k = 0; k < rounds; ++k)
        for (int i = 0; i < n; ++i) managed[i] *= factor;
    if (n == 0 || rounds == 0) return;
    cudaMemPrefetchAsync(managed, sizeof(float) * n, {cudaMemLocationTypeDevice, 0}, 0, 0);
    multiply<<<(n + 255) / 256, 256>>>(managed, n, factor, rounds, managed);
}

float *acquire(size_t) { return nullptr; }
void upload(const float *, float *, size_t) {}
void release(float *) {}
size_t sum_mapped_scratch(int) { return 0; }
void sum_mapped(const float *, int, int, double *, void *) {}
float time_copy_ms(const float *, float *, size_t, int) { return 0; }
