// Fails: upload: what arrives | OUT_OF_BOUNDS | less memory than
// On gpu: may pass - the runtime rounds small allocations up
// acquire allocates n bytes for n floats.
#include "lab.hpp"

#include <cuda_runtime.h>

float *acquire(size_t n)
{
    float *memory = nullptr;
    cudaMallocHost(&memory, n);
    return memory;
}

void upload(const float *src_host, float *dst, size_t n)
{
    cudaMemcpy(dst, src_host, sizeof(float) * n, cudaMemcpyHostToDevice);
}

void release(float *memory) { cudaFreeHost(memory); }

size_t sum_mapped_scratch(int) { return 0; }
void sum_mapped(const float *, int, int, double *, void *) {}
void scale_managed(float *, int, float, int) {}
float time_copy_ms(const float *, float *, size_t, int) { return 0; }
