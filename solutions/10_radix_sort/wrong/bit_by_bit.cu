// Fails: radix_sort: speed | TOO_SLOW | compulsory bytes per key
// On gpu: radix_sort: speed | TOO_SLOW | times
// As naive: right, and 32 times over the keys.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return threads / block_size + (threads % block_size != 0); }

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

// zeros[i]: how many keys up to key i have a 0.
static __global__ void split(const unsigned *keys, unsigned *to, int n, int bit, const int *zeros)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    bool one = keys[i] >> bit & 1;
    to[one ? zeros[n - 1] + i - zeros[i] : zeros[i] - 1] = keys[i];
}

// Twice as many ints as keys, and some sums of flags.
size_t radix_sort_scratch(int n) { return sizeof(int) * (3 * size_t(n) + 8); }
void radix_sort(unsigned *keys, int n, void *scratch)
{
    if (n == 0) return;
    unsigned *other = static_cast<unsigned *>(scratch);
    int *zeros = static_cast<int *>(scratch) + n;
    for (int bit = 0; bit < 32; ++bit) {
        unsigned *from = bit % 2 == 0 ? keys : other, *to = bit % 2 == 0 ? other : keys;
        flag_zeros<<<blocks_for(n), block_size>>>(from, zeros, n, bit);
        scan(zeros, n, zeros + n);
        split<<<blocks_for(n), block_size>>>(from, to, n, bit, zeros);
    }
}

void sort_warps(unsigned *, int) {}

size_t radix_sort_pairs_scratch(int) { return 0; }
void radix_sort_pairs(unsigned *, unsigned *, int, void *) {}

size_t radix_sort_floats_scratch(int) { return 0; }
void radix_sort_floats(float *, int, void *) {}
