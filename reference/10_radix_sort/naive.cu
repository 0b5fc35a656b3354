// Lab 10, the time to beat: what a careful beginner writes first. 32 times, once for each bit, all
// keys whose bit is 0 move before those whose bit is 1; the places come from a scan of blocks and
// of their sums.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return threads / block_size + (threads % block_size != 0); }

// One thread per run: insertion sort.
static __global__ void sort_runs(unsigned *keys, int n)
{
    int first = 32 * (blockIdx.x * block_size + threadIdx.x), last = min(first + 32, n);
    for (int i = first + 1; i < last; ++i) {
        unsigned key = keys[i];
        int to = i;
        for (; to > first && keys[to - 1] > key; --to) keys[to] = keys[to - 1];
        keys[to] = key;
    }
}

void sort_warps(unsigned *keys, int n)
{
    if (n == 0) return;
    sort_runs<<<blocks_for(n / 32 + 1), block_size>>>(keys, n);
    check_launch("sort_runs");
}

static __global__ void flag_zeros(const unsigned *keys, int *flags, int n, int bit)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) flags[i] = (keys[i] >> bit & 1) == 0;
}

// Each element becomes the sum of itself and all before it in its block; sums[b] that of block b.
static __global__ void scan_blocks(int *x, int n, int *sums)
{
    __shared__ int shared[block_size];
    int t = threadIdx.x, i = blockIdx.x * block_size + t;
    shared[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int distance = 1; distance < block_size; distance *= 2) {
        int left = t >= distance ? shared[t - distance] : 0;
        __syncthreads(); // all have read before any lane writes
        shared[t] += left;
        __syncthreads();
    }
    if (i < n) x[i] = shared[t];
    if (t == block_size - 1) sums[blockIdx.x] = shared[t];
}

static __global__ void add_sums(int *x, int n, const int *sums)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n && blockIdx.x > 0) x[i] += sums[blockIdx.x - 1];
}

// `sums`, behind x: the sums of blocks, then those of blocks of sums, and so on.
static void scan(int *x, int n, int *sums)
{
    int blocks = blocks_for(n);
    scan_blocks<<<blocks, block_size>>>(x, n, sums);
    if (blocks == 1) return;
    scan(sums, blocks, sums + blocks);
    add_sums<<<blocks, block_size>>>(x, n, sums);
}

// zeros[i]: how many keys up to key i have a 0. Values, too, unless they are null.
static __global__ void split(const unsigned *keys, unsigned *keys_to, const unsigned *values,
                             unsigned *values_to, int n, int bit, const int *zeros)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    bool one = keys[i] >> bit & 1;
    int to = one ? zeros[n - 1] + i - zeros[i] : zeros[i] - 1;
    keys_to[to] = keys[i];
    if (values) values_to[to] = values[i];
}

// Flips bits of floats so that their order is that of unsigned numbers, and flips them back.
static __global__ void turn_bits(unsigned *keys, int n, bool back)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    bool all = back ? keys[i] >> 31 == 0 : keys[i] >> 31 != 0;
    keys[i] ^= all ? 0xffffffff : 0x80000000;
}

// One sum for every block_size flags, one for as many sums, and so on.
static size_t sums_for(int n) { return size_t(n) / (block_size / 2) + 8; }

// The flags, which become their scan; the sums; and the keys' second buffer.
static size_t scratch_for(int n) { return sizeof(int) * (2 * size_t(n) + sums_for(n)); }

static void sort(unsigned *keys, unsigned *values, int n, void *scratch)
{
    if (n == 0) return;
    int *zeros = static_cast<int *>(scratch), *sums = zeros + n, blocks = blocks_for(n);
    unsigned *other = reinterpret_cast<unsigned *>(sums + sums_for(n)), *other_values = other + n;
    for (int bit = 0; bit < 32; ++bit) {
        unsigned *from = bit % 2 == 0 ? keys : other, *to = bit % 2 == 0 ? other : keys;
        unsigned *from_values = values && bit % 2 ? other_values : values;
        unsigned *to_values = bit % 2 ? values : other_values;
        flag_zeros<<<blocks, block_size>>>(from, zeros, n, bit);
        scan(zeros, n, sums);
        split<<<blocks, block_size>>>(from, to, from_values, to_values, n, bit, zeros);
    }
    check_launch("split");
}

size_t radix_sort_scratch(int n) { return scratch_for(n); }
void radix_sort(unsigned *keys, int n, void *scratch) { sort(keys, nullptr, n, scratch); }

size_t radix_sort_pairs_scratch(int n) { return scratch_for(n) + sizeof(unsigned) * n; }
void radix_sort_pairs(unsigned *keys, unsigned *values, int n, void *scratch)
{
    sort(keys, values, n, scratch);
}

size_t radix_sort_floats_scratch(int n) { return scratch_for(n); }
void radix_sort_floats(float *keys, int n, void *scratch)
{
    if (n == 0) return;
    unsigned *bits = reinterpret_cast<unsigned *>(keys);
    turn_bits<<<blocks_for(n), block_size>>>(bits, n, false);
    sort(bits, nullptr, n, scratch);
    turn_bits<<<blocks_for(n), block_size>>>(bits, n, true);
    check_launch("turn_bits");
}
