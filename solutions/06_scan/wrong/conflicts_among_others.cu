// Fails: scan_block_exclusive: shared memory | TOO_SLOW | bank conflicts per element
// A tree with bank conflicts, and a thousand loads for nothing that have none.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <utility>

constexpr int block_size = 256, most = 2048, pairs = most / 2;

static int blocks_for(int n) { return (n + block_size - 1) / block_size; }

// One block, a thread a pair of the lowest step. Elements beyond n are 0.
template <bool inclusive> static __global__ void scan_by_tree(const int *in, int *out, int n)
{
    __shared__ int sums[most];
    int t = threadIdx.x;
    int x = t < n ? in[t] : 0, y = t + pairs < n ? in[t + pairs] : 0;
    sums[t] = x;
    sums[t + pairs] = y;
    // Up: the last element of every pair of runs becomes the sum of both.
    for (int width = 1; width < most; width *= 2) {
        int right = (2 * t + 2) * width - 1, left = right - width;
        __syncthreads();
        if (right < most) sums[right] += sums[left];
    }
    __syncthreads();
    if (t == 0) sums[most - 1] = 0;
    // Down: the last element of every pair holds what lies before the pair; left and right run get
    // what lies before each of them.
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
    for (int k = 0; k < 1000; ++k) { // loads for nothing, each of them without a conflict
        int nothing;
        asm volatile("ld.shared.u32 %0, [%1];"
                     : "=r"(nothing)
                     : "r"((unsigned)__cvta_generic_to_shared(&sums[t])));
    }
    if (t < n) out[t] = sums[t] + (inclusive ? x : 0);
    if (t + pairs < n) out[t + pairs] = sums[t + pairs] + (inclusive ? y : 0);
}

void scan_block_inclusive(const int *in, int *out, int n)
{
    scan_by_tree<true><<<1, pairs>>>(in, out, n);
    check_launch("scan_by_tree");
}

void scan_block_exclusive(const int *in, int *out, int n)
{
    scan_by_tree<false><<<1, pairs>>>(in, out, n);
    check_launch("scan_by_tree");
}

template <class T> static __global__ void copy_from(const T *in, T *to, int n, int earlier)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) to[i] = i >= earlier ? in[i - earlier] : T(0);
}

template <class T> static __global__ void add_from(const T *from, T *to, int n, int distance)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) to[i] = i < distance ? from[i] : from[i - distance] + from[i];
}

// From `out` to `scratch` and back, so that the last sums come to lie in `out`.
template <class T> static void scan(const T *in, T *out, int n, void *scratch, int earlier)
{
    if (n == 0) return;
    T *from = out, *to = static_cast<T *>(scratch);
    for (long long distance = 1; distance < n; distance *= 2) std::swap(from, to);
    copy_from<<<blocks_for(n), block_size>>>(in, from, n, earlier);
    for (long long distance = 1; distance < n; distance *= 2) {
        add_from<<<blocks_for(n), block_size>>>(from, to, n, static_cast<int>(distance));
        std::swap(from, to);
    }
    check_launch("add_from");
}

// A second array of n.
size_t scan_inclusive_scratch(int n) { return sizeof(int) * n; }
size_t scan_exclusive_scratch(int n) { return sizeof(int) * n; }
size_t scan_inclusive_int64_scratch(int n) { return sizeof(std::int64_t) * n; }
size_t scan_inclusive_float_scratch(int n) { return sizeof(float) * n; }

void scan_inclusive(const int *in, int *out, int n, void *scratch) { scan(in, out, n, scratch, 0); }

void scan_exclusive(const int *in, int *out, int n, void *scratch) { scan(in, out, n, scratch, 1); }

void scan_inclusive_int64(const std::int64_t *in, std::int64_t *out, int n, void *scratch)
{
    scan(in, out, n, scratch, 0);
}

void scan_inclusive_float(const float *in, float *out, int n, void *scratch)
{
    scan(in, out, n, scratch, 0);
}
