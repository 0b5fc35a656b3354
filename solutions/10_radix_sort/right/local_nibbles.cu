// Right: a block first sorts its tile by 8 bits itself, as two stable sorts by 4 bits with a
// counter for each thread and digit (no votes); digits' starts are found in the sorted tile;
// look-back.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <utility>

constexpr int threads = 256, each = 17, tile = threads * each; // odd: a thread's keys, no conflicts
constexpr int digits = 256, passes = 4, nibbles = 16;
constexpr unsigned here = 1u << 30, upto = 1u << 31;

// Sums of all before, over threads * each_has numbers in shared memory, of which a thread has
// neighbours; `sums` is room for one number per thread. What came before must be seen by all.
template <int each_has, class T> static __device__ void scan(T *x, int *sums)
{
    const int t = threadIdx.x;
    int sum = 0;
    for (int i = 0; i < each_has; ++i) sum += x[t * each_has + i];
    sums[t] = sum;
    __syncthreads();
    for (int d = 1; d < threads; d *= 2) { // Hillis and Steele
        int left = t >= d ? sums[t - d] : 0;
        __syncthreads();
        sums[t] += left;
        __syncthreads();
    }
    int before = t > 0 ? sums[t - 1] : 0;
    for (int i = 0; i < each_has; ++i) {
        int had = x[t * each_has + i];
        x[t * each_has + i] = T(before);
        before += had;
    }
    __syncthreads();
}

struct tile_memory {
    unsigned keys[tile], values[tile];
    int sums[threads];
    union {
        unsigned short counters[nibbles * threads]; // counters[digit * threads + thread]
        struct {
            int start[digits], end[digits], to[digits];
        };
    };
};

// Sorts the tile by the four bits from `shift` on. Keys of a thread are neighbours, so that its
// counters, digit by digit and thread by thread, are in the order of the result.
static __device__ void sort_by_nibble(tile_memory &m, int shift, bool pairs)
{
    const int t = threadIdx.x;
    unsigned keys[each], values[each];
    unsigned short place[each];
    for (int d = 0; d < nibbles; ++d) m.counters[d * threads + t] = 0;
#pragma unroll
    for (int k = 0; k < each; ++k) {
        keys[k] = m.keys[t * each + k];
        if (pairs) values[k] = m.values[t * each + k];
        place[k] = m.counters[(keys[k] >> shift) % nibbles * threads + t]++;
    }
    __syncthreads();
    scan<nibbles>(m.counters, m.sums); // a thread has 16 threads' counters of one digit
#pragma unroll
    for (int k = 0; k < each; ++k) {
        int to = m.counters[(keys[k] >> shift) % nibbles * threads + t] + place[k];
        m.keys[to] = keys[k];
        if (pairs) m.values[to] = values[k];
    }
    __syncthreads();
}

static __device__ unsigned in_order(unsigned key, bool floats)
{
    return !floats ? key : key >> 31 ? ~key : key | 1u << 31;
}
static __device__ unsigned as_it_was(unsigned key, bool floats)
{
    return !floats ? key : key >> 31 ? key ^ 1u << 31 : ~key;
}

static __global__ void count(const unsigned *keys, int n, int *totals, bool floats)
{
    __shared__ int counts[passes * digits];
    for (int i = threadIdx.x; i < passes * digits; i += threads) counts[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * threads + threadIdx.x; i < n; i += gridDim.x * threads) {
        unsigned key = in_order(keys[i], floats);
        for (int p = 0; p < passes; ++p, key >>= 8)
            atomicAdd(counts + p * digits + key % digits, 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < passes * digits; i += threads) atomicAdd(totals + i, counts[i]);
}

// One block per pass: counts become the places of each digit's first key.
static __global__ void add_up(int *totals)
{
    __shared__ int x[digits], sums[threads];
    int *row = totals + blockIdx.x * digits;
    x[threadIdx.x] = row[threadIdx.x];
    __syncthreads();
    scan<1>(x, sums);
    row[threadIdx.x] = x[threadIdx.x];
}

static __global__ void __launch_bounds__(threads)
    sweep(const unsigned *keys, const unsigned *values, unsigned *keys_to, unsigned *values_to,
          int n, int shift, const int *starts, unsigned *ticket, volatile unsigned *told,
          bool floats)
{
    __shared__ tile_memory m;
    __shared__ int taken;
    const int t = threadIdx.x;
    if (t == 0) taken = atomicAdd(ticket, 1);
    __syncthreads();
    const int which = taken, first = which * tile, valid = min(tile, n - first);
    for (int i = t; i < tile; i += threads) {
        m.keys[i] = i < valid ? in_order(keys[first + i], floats) : ~0u; // these stay the last
        if (values) m.values[i] = i < valid ? values[first + i] : 0;
    }
    __syncthreads();
    sort_by_nibble(m, shift, values);
    sort_by_nibble(m, shift + 4, values);

    auto digit = [&](int i) { return int(m.keys[i] >> shift) & (digits - 1); };
    m.start[t] = m.end[t] = 0;
    __syncthreads();
    for (int i = t; i < valid; i += threads) {
        if (i == 0 || digit(i - 1) != digit(i)) m.start[digit(i)] = i;
        if (i == valid - 1 || digit(i + 1) != digit(i)) m.end[digit(i)] = i + 1;
    }
    __syncthreads();
    // One thread per digit.
    unsigned mine = m.end[t] - m.start[t], before = 0;
    const size_t at = size_t(which) * digits + t;
    told[at] = mine | (which == 0 ? upto : here);
    for (int back = 1; back <= which; ++back) {
        unsigned x;
        do x = told[at - size_t(back) * digits];
        while (!x);
        before += x & (here - 1);
        if (x & upto) break;
    }
    if (which > 0) told[at] = (before + mine) | upto;
    m.to[t] = starts[t] + int(before) - m.start[t];
    __syncthreads();
    for (int i = t; i < valid; i += threads) {
        int to = m.to[digit(i)] + i;
        keys_to[to] = as_it_was(m.keys[i], floats);
        if (values) values_to[to] = m.values[i];
    }
}

// Each lane finds the place of its key by a vote for each bit, from the highest on: who is still
// undecided against it, and who is smaller.
static __global__ void sort_runs(unsigned *keys, int n)
{
    int i = blockIdx.x * threads + threadIdx.x, lane = threadIdx.x % 32;
    unsigned key = i < n ? keys[i] : ~0u, same = ~0u, smaller = 0;
    for (int bit = 31; bit >= 0; --bit) {
        unsigned ones = __ballot_sync(~0u, key >> bit & 1);
        if (key >> bit & 1) {
            smaller |= same & ~ones;
            same &= ones;
        } else {
            same &= ~ones;
        }
    }
    __syncwarp();
    if (i < n) keys[i - lane + __popc(smaller) + __popc(same & ((1u << lane) - 1))] = key;
}

static int tiles(int n) { return (n + tile - 1) / tile; }
static size_t table(int n) { return size_t(passes) * (digits + 1 + size_t(tiles(n)) * digits); }

static void sort(unsigned *keys, unsigned *values, int n, void *scratch, bool floats)
{
    if (n == 0) return;
    unsigned *totals = static_cast<unsigned *>(scratch), *tickets = totals + passes * digits,
             *told = tickets + passes, *keys_to = totals + table(n), *values_to = keys_to + n;
    int *starts = reinterpret_cast<int *>(totals);
    check(cudaMemsetAsync(scratch, 0, table(n) * sizeof(unsigned)), "cudaMemsetAsync");
    count<<<std::min(tiles(n), 1024), threads>>>(keys, n, starts, floats);
    check_launch("count");
    add_up<<<passes, threads>>>(starts);
    check_launch("add_up");
    for (int p = 0; p < passes; ++p) {
        sweep<<<tiles(n), threads>>>(keys, values, keys_to, values_to, n, 8 * p,
                                     starts + p * digits, tickets + p,
                                     told + size_t(p) * tiles(n) * digits, floats);
        check_launch("sweep");
        std::swap(keys, keys_to);
        if (values) std::swap(values, values_to);
    }
}

void sort_warps(unsigned *keys, int n)
{
    if (n == 0) return;
    sort_runs<<<(n - 1) / threads + 1, threads>>>(keys, n);
    check_launch("sort_runs");
}

size_t radix_sort_scratch(int n) { return sizeof(unsigned) * (table(n) + n); }
void radix_sort(unsigned *keys, int n, void *scratch) { sort(keys, nullptr, n, scratch, false); }
size_t radix_sort_pairs_scratch(int n) { return sizeof(unsigned) * (table(n) + 2 * size_t(n)); }
void radix_sort_pairs(unsigned *keys, unsigned *values, int n, void *scratch)
{
    sort(keys, values, n, scratch, false);
}
size_t radix_sort_floats_scratch(int n) { return sizeof(unsigned) * (table(n) + n); }
void radix_sort_floats(float *keys, int n, void *scratch)
{
    sort(reinterpret_cast<unsigned *>(keys), nullptr, n, scratch, true);
}
