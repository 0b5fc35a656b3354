// Lab 07, the time to beat: what a careful beginner writes first. One flag per element, the flags
// scanned by doubling distances in global memory (Hillis-Steele), and one thread per element to
// move it.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <utility>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

static __global__ void flag_positive(const float *in, int *flags, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) flags[i] = in[i] > 0;
}

static __global__ void flag_marked(const unsigned char *keep, int *flags, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) flags[i] = keep[i] != 0;
}

// After distances 1, 2, 4, ... every element holds the sum of itself and all before it.
static __global__ void add_from(const int *from, int *to, int n, int distance)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) to[i] = i < distance ? from[i] : from[i] + from[i - distance];
}

// Returns where the sums are: in `flags` or in `other`.
static int *sum_up(int *flags, int *other, int n)
{
    for (long long distance = 1; distance < n; distance *= 2) {
        add_from<<<blocks_for(n), block_size>>>(flags, other, n, static_cast<int>(distance));
        std::swap(flags, other);
    }
    check_launch("add_from");
    return flags;
}

// sums[i] - 1 is the place of element i, if it is kept.
static __global__ void move_kept(const float *in, float *out, int n, const int *sums)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n && in[i] > 0) out[sums[i] - 1] = in[i];
}

static __global__ void move_back(const float *packed, const unsigned char *keep, float *out, int n,
                                 const int *sums)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) out[i] = keep[i] != 0 ? packed[sums[i] - 1] : 0;
}

// The rest begins after all that is kept; i - sums[i] of it lie before element i.
static __global__ void move_rest(const float *in, float *out, int n, const int *sums)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n && !(in[i] > 0)) out[sums[n - 1] + i - sums[i]] = in[i];
}

static __global__ void copy_total(const int *sums, int *count, int n)
{
    *count = n > 0 ? sums[n - 1] : 0;
}

// Two arrays of n, between which the sums go back and forth.
size_t compact_scratch(int n) { return 2 * sizeof(int) * n; }
size_t unpack_scratch(int n) { return 2 * sizeof(int) * n; }
size_t partition_scratch(int n) { return 2 * sizeof(int) * n; }

// Returns the sums.
static const int *compact_and_sum(const float *in, float *out, int *count, int n, void *scratch)
{
    int *flags = static_cast<int *>(scratch), *sums = flags;
    if (n > 0) {
        flag_positive<<<blocks_for(n), block_size>>>(in, flags, n);
        sums = sum_up(flags, flags + n, n);
        move_kept<<<blocks_for(n), block_size>>>(in, out, n, sums);
    }
    copy_total<<<1, 1>>>(sums, count, n);
    check_launch("copy_total");
    return sums;
}

void compact(const float *in, float *out, int *count, int n, void *scratch)
{
    compact_and_sum(in, out, count, n, scratch);
}

void unpack(const float *packed, const unsigned char *keep, float *out, int n, void *scratch)
{
    if (n == 0) return;
    int *flags = static_cast<int *>(scratch);
    flag_marked<<<blocks_for(n), block_size>>>(keep, flags, n);
    const int *sums = sum_up(flags, flags + n, n);
    move_back<<<blocks_for(n), block_size>>>(packed, keep, out, n, sums);
    check_launch("move_back");
}

void partition(const float *in, float *out, int *kept_count, int n, void *scratch)
{
    const int *sums = compact_and_sum(in, out, kept_count, n, scratch);
    if (n == 0) return;
    move_rest<<<blocks_for(n), block_size>>>(in, out, n, sums);
    check_launch("move_rest");
}
