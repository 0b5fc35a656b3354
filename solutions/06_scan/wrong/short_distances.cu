// Fails: scan_block_exclusive: as many as a block may have | WRONG_ANSWER | the last 64 elements
// The distances end at 32, in an array of any length.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void add_lefts(const int *in, int *out, int n)
{
    __shared__ int now[2048], then[2048];
    for (int i = threadIdx.x; i < 2048; i += blockDim.x) now[i] = 0 < i && i <= n ? in[i - 1] : 0;
    __syncthreads();
    for (int d = 1; d <= 32; d *= 2) {
        for (int i = threadIdx.x; i < 2048; i += blockDim.x) then[i] = now[i];
        __syncthreads();
        for (int i = threadIdx.x; i < 2048; i += blockDim.x)
            if (i >= d) now[i] = then[i] + then[i - d];
        __syncthreads();
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = now[i];
}

void scan_block_exclusive(const int *in, int *out, int n) { add_lefts<<<1, 512>>>(in, out, n); }

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
