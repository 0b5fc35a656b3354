// Fails: scan_block_exclusive: shared memory | TOO_SLOW | shared wavefronts over
// Elements a power of two apart lie in one bank.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int most = 2048, pairs = most / 2;

static __global__ void scan_by_tree(const int *in, int *out, int n)
{
    __shared__ int sums[most];
    int t = threadIdx.x;
    sums[t] = t < n ? in[t] : 0;
    sums[t + pairs] = t + pairs < n ? in[t + pairs] : 0;
    for (int width = 1; width < most; width *= 2) {
        int right = (2 * t + 2) * width - 1, left = right - width;
        __syncthreads();
        if (right < most) sums[right] += sums[left];
    }
    __syncthreads();
    if (t == 0) sums[most - 1] = 0;
    for (int width = pairs; width > 0; width /= 2) {
        int right = (2 * t + 2) * width - 1, left = right - width;
        __syncthreads();
        if (right < most) {
            int of_left = sums[left];
            sums[left] = sums[right];
            sums[right] += of_left;
        }
    }
    __syncthreads();
    if (t < n) out[t] = sums[t];
    if (t + pairs < n) out[t + pairs] = sums[t + pairs];
}

void scan_block_exclusive(const int *in, int *out, int n)
{
    scan_by_tree<<<1, pairs>>>(in, out, n);
}

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
