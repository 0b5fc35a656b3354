// Fails: scan_block_exclusive: arrays that begin anywhere | WRONG_ANSWER | all warps but the first
// The thread's number in the block is taken for its lane. An element a thread.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void scan_warps(const int *in, int *out, int n)
{
    __shared__ int ends[1024 / 32];
    int t = threadIdx.x, x = t < n ? in[t] : 0, up_to = x;
    for (int distance = 1; distance < 32; distance *= 2) {
        int left = __shfl_up_sync(0xffffffff, up_to, distance);
        if (t >= distance) up_to += left;
    }
    if (t % 32 == 31) ends[t / 32] = up_to;
    __syncthreads();
    for (int w = 0; w < t / 32; ++w) up_to += ends[w];
    if (t < n) out[t] = up_to - x;
}

void scan_block_exclusive(const int *in, int *out, int n) { scan_warps<<<1, 1024>>>(in, out, n); }

// Not begun.
void scan_block_inclusive(const int *, int *, int) {}
size_t scan_inclusive_scratch(int) { return 0; }
void scan_inclusive(const int *, int *, int, void *) {}
size_t scan_exclusive_scratch(int) { return 0; }
void scan_exclusive(const int *, int *, int, void *) {}
size_t scan_inclusive_int64_scratch(int) { return 0; }
void scan_inclusive_int64(const std::int64_t *, std::int64_t *, int, void *) {}
size_t scan_inclusive_float_scratch(int) { return 0; }
void scan_inclusive_float(const float *, float *, int, void *) {}
