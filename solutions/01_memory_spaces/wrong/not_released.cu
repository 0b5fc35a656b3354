// Fails: upload: what arrives | WRONG_ANSWER | still pinned
// release takes pinned memory for the device's.
#include "lab.hpp"

#include <cuda_runtime.h>

float *acquire(size_t n)
{
    float *memory = nullptr;
    cudaMallocHost(&memory, sizeof(float) * n);
    return memory;
}

void upload(const float *src_host, float *dst, size_t n)
{
    cudaMemcpy(dst, src_host, sizeof(float) * n, cudaMemcpyHostToDevice);
}

void release(float *) {}

void device_facts(device_facts_t *) {}
void add_to_global(float, float *) {}
void polynomial(const float *, float *, int, const float *, int) {}
void follow(const unsigned char *, const unsigned char *, unsigned char *, int, int) {}
void small_sort(const float *, float *, int) {}
void reverse_blocks(float *, int, int) {}
void transpose(const float *, float *, int, int) {}
void sample_bilinear(const unsigned char *, int, int, const float2 *, float *, int) {}
size_t sum_mapped_scratch(int) { return 0; }
void sum_mapped(const float *, int, int, double *, void *) {}
void scale_managed(float *, int, float, int) {}
