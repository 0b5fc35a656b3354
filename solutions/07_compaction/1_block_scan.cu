// Lab 07, rung 1: one flag per element as in naive, but the flags are scanned within blocks, then
// the blocks' sums, so that each flag is read once.
//
// New: scan_blocks and scan_sums in place of naive's add_from, which ran once for each distance.
// With them an element's place is the sum of two numbers, sums::inclusive. One kernel of partition
// moves the elements, move_both, instead of two.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 1024;

static int blocks_for(int n) { return n / block_size + (n % block_size != 0); }

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

// Returns the inclusive prefix sum of x in the block.
static __device__ int sum_in_block(int x)
{
    __shared__ int sums[block_size];
    int t = threadIdx.x;
    sums[t] = x;
    __syncthreads();
    for (int distance = 1; distance < block_size; distance *= 2) {
        int left = t >= distance ? sums[t - distance] : 0;
        __syncthreads(); // all have read before any thread writes
        sums[t] += left;
        __syncthreads();
    }
    return sums[t];
}

// Each flag becomes the sum of it and those before it in its block; the block's sum goes to
// `blocks`.
static __global__ void scan_blocks(int *flags, int n, int *blocks)
{
    int i = blockIdx.x * block_size + threadIdx.x, sum = sum_in_block(i < n ? flags[i] : 0);
    if (i < n) flags[i] = sum;
    if (threadIdx.x == block_size - 1) blocks[blockIdx.x] = sum;
}

// In one block: each block's sum becomes the sum of those before it. *total, unless it is null,
// becomes the sum of all.
static __global__ void scan_sums(int *blocks, int count, int *total)
{
    int t = threadIdx.x, run = (count + block_size - 1) / block_size, of_run = 0;
    int first = min(t * run, count), last = min(first + run, count);
    for (int b = first; b < last; ++b) of_run += blocks[b];
    int sum = sum_in_block(of_run), before = sum - of_run;
    for (int b = first; b < last; ++b) {
        int here = blocks[b];
        blocks[b] = before;
        before += here;
    }
    if (total && t == block_size - 1) *total = sum;
}

// Scratch: one sum per element, within its block, and one per block, of all blocks before it.
struct sums {
    int *flags, *blocks;
    __device__ int inclusive(int i) const { return blocks[i / block_size] + flags[i]; }
};

static size_t scratch_for(int n) { return sizeof(int) * n + sizeof(int) * blocks_for(n); }
size_t compact_scratch(int n) { return scratch_for(n); }
size_t unpack_scratch(int n) { return scratch_for(n); }
size_t partition_scratch(int n) { return scratch_for(n); }

static sums sums_in(void *scratch, int n)
{
    return {static_cast<int *>(scratch), static_cast<int *>(scratch) + n};
}

static void sum_up(const sums &s, int n, int *total)
{
    if (n > 0) scan_blocks<<<blocks_for(n), block_size>>>(s.flags, n, s.blocks);
    check_launch("scan_blocks");
    scan_sums<<<1, block_size>>>(s.blocks, blocks_for(n), total);
    check_launch("scan_sums");
}

static __global__ void move_kept(const float *in, float *out, int n, sums s)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n && in[i] > 0) out[s.inclusive(i) - 1] = in[i];
}

static __global__ void move_back(const float *packed, const unsigned char *keep, float *out, int n,
                                 sums s)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) out[i] = keep[i] != 0 ? packed[s.inclusive(i) - 1] : 0;
}

static __global__ void move_both(const float *in, float *out, int n, sums s, const int *kept_count)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) out[in[i] > 0 ? s.inclusive(i) - 1 : *kept_count + i - s.inclusive(i)] = in[i];
}

void compact(const float *in, float *out, int *count, int n, void *scratch)
{
    sums s = sums_in(scratch, n);
    if (n > 0) flag_positive<<<blocks_for(n), block_size>>>(in, s.flags, n);
    check_launch("flag_positive");
    sum_up(s, n, count);
    if (n > 0) move_kept<<<blocks_for(n), block_size>>>(in, out, n, s);
    check_launch("move_kept");
}

void unpack(const float *packed, const unsigned char *keep, float *out, int n, void *scratch)
{
    if (n == 0) return;
    sums s = sums_in(scratch, n);
    flag_marked<<<blocks_for(n), block_size>>>(keep, s.flags, n);
    check_launch("flag_marked");
    sum_up(s, n, nullptr);
    move_back<<<blocks_for(n), block_size>>>(packed, keep, out, n, s);
    check_launch("move_back");
}

void partition(const float *in, float *out, int *kept_count, int n, void *scratch)
{
    sums s = sums_in(scratch, n);
    if (n > 0) flag_positive<<<blocks_for(n), block_size>>>(in, s.flags, n);
    check_launch("flag_positive");
    sum_up(s, n, kept_count);
    if (n > 0) move_both<<<blocks_for(n), block_size>>>(in, out, n, s, kept_count);
    check_launch("move_both");
}
