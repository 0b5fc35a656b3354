// Fails: small_sort: speed | TOO_SLOW | bytes moved per element
// On gpu: small_sort: speed | TOO_SLOW |
// A run is sorted where it shall be: that is no local memory, and no register either.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void sort_runs(const float *in, float *out, int n)
{
    int first = run_length * (blockIdx.x * blockDim.x + threadIdx.x);
    int end = min(first + run_length, n);
    for (int i = first; i < end; ++i) {
        float x = in[i];
        int to = i;
        for (; to > first && out[to - 1] > x; --to) out[to] = out[to - 1];
        out[to] = x;
    }
}

void small_sort(const float *in, float *out, int n)
{
    int runs = (n + run_length - 1) / run_length;
    if (n > 0) sort_runs<<<(runs + 127) / 128, 128>>>(in, out, n);
}

// Not begun.
void device_facts(device_facts_t *) {}
void add_to_global(float, float *) {}
void polynomial(const float *, float *, int, const float *, int) {}
void follow(const unsigned char *, const unsigned char *, unsigned char *, int, int) {}
void reverse_blocks(float *, int, int) {}
