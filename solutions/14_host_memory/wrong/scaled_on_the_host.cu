// Fails: scale_managed: speed | IMPLAUSIBLE | No kernel
// On gpu: scale_managed: speed | TOO_SLOW |
// The host can write managed memory, too, and so no kernel runs.
#include "lab.hpp"

#include <cuda_runtime.h>

void scale_managed(float *managed, int n, float factor, int rounds)
{
    for (int k = 0; k < rounds; ++k)
        for (int i = 0; i < n; ++i) managed[i] *= factor;
}

float *acquire(size_t) { return nullptr; }
void upload(const float *, float *, size_t) {}
void release(float *) {}
size_t sum_mapped_scratch(int) { return 0; }
void sum_mapped(const float *, int, int, double *, void *) {}
float time_copy_ms(const float *, float *, size_t, int) { return 0; }
