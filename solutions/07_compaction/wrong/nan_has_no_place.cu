// Fails: partition: what is positive | PARTIALLY_WRITTEN | elements of `in` are NaN
// What is not kept is asked for by itself, x <= 0, when it is counted and when it is copied.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

// One block: each thread has a stretch of its own.
static __global__ void partition_in_block(const float *in, float *out, int *kept_count, int n)
{
    __shared__ int kept[block_size], rest[block_size];
    const int t = threadIdx.x, each = (n + block_size - 1) / block_size;
    const int first = min(t * each, n), last = min(first + each, n);
    int kept_here = 0, rest_here = 0;
    for (int i = first; i < last; ++i) {
        kept_here += in[i] > 0;
        rest_here += in[i] <= 0;
    }
    kept[t] = kept_here;
    rest[t] = rest_here;
    __syncthreads();
    int all_kept = 0, kept_before = 0, rest_before = 0;
    for (int k = 0; k < block_size; ++k) {
        all_kept += kept[k];
        if (k < t) kept_before += kept[k], rest_before += rest[k];
    }
    rest_before += all_kept;
    for (int i = first; i < last; ++i)
        if (in[i] > 0)
            out[kept_before++] = in[i];
        else if (in[i] <= 0)
            out[rest_before++] = in[i];
    if (t == 0) *kept_count = all_kept;
}

size_t partition_scratch(int) { return 0; }

void partition(const float *in, float *out, int *kept_count, int n, void *)
{
    partition_in_block<<<1, block_size>>>(in, out, kept_count, n);
}

// Not begun.
size_t compact_scratch(int) { return 0; }
void compact(const float *, float *, int *, int, void *) {}

size_t unpack_scratch(int) { return 0; }
void unpack(const float *, const unsigned char *, float *, int, void *) {}
