// Lab 06, rung 1: the scans of one block keep their growing sums in shared memory. Those of any
// length are naive's.
//
// New: scan_by_doubling. An element passes through global memory twice, read and written, however
// many distances there are.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <utility>

constexpr int block_size = 256, most = 2048, pairs = most / 2;

static int blocks_for(int n) { return (n + block_size - 1) / block_size; }

// One block, two elements a thread. An exclusive scan is an inclusive one of what lies one earlier.
static __global__ void scan_by_doubling(const int *in, int *out, int n, int earlier)
{
    __shared__ int sums[most];
    int i = threadIdx.x, k = i + pairs;
    sums[i] = i >= earlier && i < n ? in[i - earlier] : 0;
    sums[k] = k < n ? in[k - earlier] : 0;
    __syncthreads();
    for (int distance = 1; distance < n; distance *= 2) {
        int left_of_i = i >= distance ? sums[i - distance] : 0;
        int left_of_k = sums[k - distance];
        __syncthreads(); // all have read before anyone writes
        sums[i] += left_of_i;
        sums[k] += left_of_k;
        __syncthreads();
    }
    if (i < n) out[i] = sums[i];
    if (k < n) out[k] = sums[k];
}

static void scan_block(const int *in, int *out, int n, int earlier)
{
    scan_by_doubling<<<1, pairs>>>(in, out, n, earlier);
    check_launch("scan_by_doubling");
}

void scan_block_inclusive(const int *in, int *out, int n) { scan_block(in, out, n, 0); }
void scan_block_exclusive(const int *in, int *out, int n) { scan_block(in, out, n, 1); }

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
