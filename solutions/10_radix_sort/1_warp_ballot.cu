// Lab 10, rung 1: votes. A warp sorts its 32 keys by 32 votes, and splits rows of keys by one bit
// with one vote per row: flags and places need no memory any more. Three kernels per bit, as in lab
// 07.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, warps = block_size / 32;
constexpr int per_thread = 16, per_warp = 32 * per_thread, tile = block_size * per_thread;
constexpr unsigned all_lanes = 0xffffffff;

static int blocks_for(int n, int each) { return n / each + (n % each != 0); }

static __device__ int lane() { return threadIdx.x % 32; }

// One bit for each lane before this one.
static __device__ unsigned lanes_below() { return (1u << lane()) - 1; }

// One warp per run. Bit by bit from the lowest, `before` is the lanes whose keys go before this
// lane's.
static __global__ void sort_runs(unsigned *keys, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    unsigned key = i < n ? keys[i] : 0xffffffff, before = lanes_below();
    for (int bit = 0; bit < 32; ++bit) {
        bool one = key >> bit & 1;
        unsigned zeros = ~__ballot_sync(all_lanes, one);
        before = one ? before | zeros : before & zeros;
    }
    __syncwarp(); // all have read before any lane writes
    if (i < n) keys[i - lane() + __popc(before)] = key;
}

void sort_warps(unsigned *keys, int n)
{
    if (n == 0) return;
    sort_runs<<<blocks_for(n, block_size), block_size>>>(keys, n);
    check_launch("sort_runs");
}

// The number of zeros in the warps of this block before this one, and in all of them.
struct block_counts {
    int before = 0, all = 0;
};

static __device__ block_counts add_up(int of_this_warp)
{
    __shared__ int counts[warps];
    if (lane() == 0) counts[threadIdx.x / 32] = of_this_warp;
    __syncthreads();
    block_counts sums;
    for (int w = 0; w < warps; ++w) {
        if (w < int(threadIdx.x / 32)) sums.before += counts[w];
        sums.all += counts[w];
    }
    return sums;
}

// The digit that a pass sorts by.
struct pass {
    int bit;
    bool floats; // keys are the bits of floats
};

// Flips bits of floats so that their order as unsigned numbers is that of the floats: all bits of
// negative ones, the sign of positive ones.
static __device__ bool is_zero(unsigned key, pass p)
{
    if (p.floats) key ^= key >> 31 ? 0xffffffff : 0x80000000;
    return (key >> p.bit & 1) == 0;
}

// This lane's first element. The others are 32, 64, ... further on: a warp has per_thread rows of
// 32 neighbours, one below the other.
static __device__ int first_element()
{
    return blockIdx.x * tile + threadIdx.x / 32 * per_warp + lane();
}

// The lanes whose key in this row has a 0.
static __device__ unsigned zeros_of(const unsigned *keys, int i, int n, pass p)
{
    return __ballot_sync(all_lanes, i < n && is_zero(keys[i], p));
}

static __device__ block_counts count_zeros(const unsigned *keys, int n, pass p)
{
    int zeros = 0;
    for (int k = 0; k < per_thread; ++k)
        zeros += __popc(zeros_of(keys, first_element() + 32 * k, n, p));
    return add_up(zeros);
}

static __global__ void count_tiles(const unsigned *keys, int n, pass p, int *counts)
{
    int all = count_zeros(keys, n, p).all;
    if (threadIdx.x == 0) counts[blockIdx.x] = all;
}

// In one block: each count becomes the sum of those before it, and *total that of all.
static __global__ void scan_counts(int *counts, int tiles, int *total)
{
    __shared__ int sums[block_size];
    int t = threadIdx.x, run = (tiles + block_size - 1) / block_size, of_run = 0;
    int first = min(t * run, tiles), last = min(first + run, tiles);
    for (int i = first; i < last; ++i) of_run += counts[i];
    sums[t] = of_run;
    __syncthreads();
    for (int distance = 1; distance < block_size; distance *= 2) {
        int left = t >= distance ? sums[t - distance] : 0;
        __syncthreads(); // all have read before any thread writes
        sums[t] += left;
        __syncthreads();
    }
    int before = sums[t] - of_run;
    for (int i = first; i < last; ++i) {
        int count = counts[i];
        counts[i] = before;
        before += count;
    }
    if (t == block_size - 1) *total = sums[t];
}

// Where keys and values come from and go to; values may be null.
struct arrays {
    const unsigned *keys, *values;
    unsigned *keys_to, *values_to;
};

// Those of the i keys before key i that have no 0 have a 1, and go behind all zeros.
static __global__ void place_tiles(arrays a, int n, pass p, const int *counts, const int *total)
{
    int zeros = counts[blockIdx.x] + count_zeros(a.keys, n, p).before;
    for (int k = 0; k < per_thread; ++k) {
        int i = first_element() + 32 * k;
        unsigned row = zeros_of(a.keys, i, n, p);
        int before = zeros + __popc(row & lanes_below());
        zeros += __popc(row);
        if (i >= n) continue;
        int to = row >> lane() & 1 ? before : *total + i - before;
        a.keys_to[to] = a.keys[i];
        if (a.values) a.values_to[to] = a.values[i];
    }
}

// In ints: the total and the counts of one bit; all bits use the same.
static size_t counts_for(int n) { return 1 + size_t(blocks_for(n, tile)); }

// Sorts there and back: an even number of bits leaves the result in keys.
static void sort(unsigned *keys, unsigned *values, int n, void *scratch, bool floats)
{
    if (n == 0) return;
    int tiles = blocks_for(n, tile);
    int *total = static_cast<int *>(scratch), *counts = total + 1;
    unsigned *other = reinterpret_cast<unsigned *>(total + counts_for(n));
    unsigned *other_values = values ? other + n : nullptr;
    arrays there{keys, values, other, other_values}, back{other, other_values, keys, values};
    for (int bit = 0; bit < 32; ++bit) {
        arrays a = bit % 2 == 0 ? there : back;
        pass p{bit, floats};
        count_tiles<<<tiles, block_size>>>(a.keys, n, p, counts);
        scan_counts<<<1, block_size>>>(counts, tiles, total);
        place_tiles<<<tiles, block_size>>>(a, n, p, counts, total);
    }
    check_launch("count_tiles, scan_counts or place_tiles");
}

static size_t keys_and_counts(int n) { return sizeof(unsigned) * n + sizeof(int) * counts_for(n); }

size_t radix_sort_scratch(int n) { return keys_and_counts(n); }
void radix_sort(unsigned *keys, int n, void *scratch) { sort(keys, nullptr, n, scratch, false); }

size_t radix_sort_pairs_scratch(int n) { return keys_and_counts(n) + sizeof(unsigned) * n; }
void radix_sort_pairs(unsigned *keys, unsigned *values, int n, void *scratch)
{
    sort(keys, values, n, scratch, false);
}

size_t radix_sort_floats_scratch(int n) { return keys_and_counts(n); }
void radix_sort_floats(float *keys, int n, void *scratch)
{
    sort(reinterpret_cast<unsigned *>(keys), nullptr, n, scratch, true);
}
