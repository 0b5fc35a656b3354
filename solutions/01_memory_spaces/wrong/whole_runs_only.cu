// Fails: small_sort: a shorter run at the end | PARTIALLY_WRITTEN | never written
// The run at the end that is shorter has no thread.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int pieces(int n, int of) { return (n + of - 1) / of; }

static __global__ void sort_runs(const float *in, float *out, int n)
{
    int first = (blockIdx.x * block_size + threadIdx.x) * run_length;
    if (first + run_length > n) return;
    float run[run_length];
#pragma unroll
    for (int i = 0; i < run_length; ++i) run[i] = first + i < n ? in[first + i] : INFINITY;
#pragma unroll
    for (int round = 0; round < run_length; ++round)
#pragma unroll
        for (int i = round % 2; i + 1 < run_length; i += 2) {
            float low = fminf(run[i], run[i + 1]), high = fmaxf(run[i], run[i + 1]);
            run[i] = low;
            run[i + 1] = high;
        }
#pragma unroll
    for (int i = 0; i < run_length; ++i)
        if (first + i < n) out[first + i] = run[i];
}

void small_sort(const float *in, float *out, int n)
{
    if (n == 0) return;
    sort_runs<<<pieces(n, block_size * run_length), block_size>>>(in, out, n);
}

void device_facts(device_facts_t *) {}
void add_to_global(float, float *) {}
void polynomial(const float *, float *, int, const float *, int) {}
void follow(const unsigned char *, const unsigned char *, unsigned char *, int, int) {}
void reverse_blocks(float *, int, int) {}
