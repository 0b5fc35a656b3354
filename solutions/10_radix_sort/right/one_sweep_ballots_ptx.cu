// Right: one kernel per pass with look-back; ranks by ballots; tile states are loaded and stored by
// inline PTX (ld.relaxed, st.relaxed), state and count in one word.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <utility>

namespace {

constexpr int block = 256, warps = block / 32, per_thread = 24, per_warp = 32 * per_thread;
constexpr int tile = block * per_thread, digits = 256, passes = 4;
constexpr unsigned full = ~0u, own = 1u << 30, all_before = 1u << 31, count_mask = own - 1;

__device__ unsigned load_relaxed(const unsigned *at)
{
    unsigned x;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(at) : "memory");
    return x;
}
__device__ void store_relaxed(unsigned *at, unsigned x)
{
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(x) : "memory");
}

__global__ void sort_runs(unsigned *keys, int n)
{
    int i = blockIdx.x * block + threadIdx.x;
    unsigned key = i < n ? keys[i] : full, before;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(before));
#pragma unroll
    for (int bit = 0; bit < 32; ++bit) {
        bool one = key >> bit & 1;
        unsigned ones = __ballot_sync(full, one);
        before = one ? before | ~ones : before & ~ones;
    }
    __syncwarp(); // votes order no memory: all have loaded before anybody stores
    // A key that is padding goes behind all others that are as large: it stands behind them.
    if (i < n) keys[i - threadIdx.x % 32 + __popc(before)] = key;
}

// The bits whose unsigned order is the order of the keys.
template <bool floats> __device__ unsigned ordered(unsigned key)
{
    if constexpr (floats) return key ^ (unsigned(int(key) >> 31) | 1u << 31);
    return key;
}

template <bool floats> __global__ void count_all(const unsigned *keys, int n, int *totals)
{
    __shared__ int counts[passes][digits];
    for (int i = threadIdx.x; i < passes * digits; i += block) counts[0][i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * block + threadIdx.x; i < n; i += gridDim.x * block) {
        unsigned key = ordered<floats>(keys[i]);
#pragma unroll
        for (int p = 0; p < passes; ++p) atomicAdd(&counts[p][key >> 8 * p & 255], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < passes * digits; i += block)
        if (int c = counts[0][i]) atomicAdd(&totals[i], c);
}

// What x of all threads before this one adds up to.
__device__ int sum_before(int x)
{
    __shared__ int of_warp[warps];
    int lane = threadIdx.x % 32, sum = x;
    for (int d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(full, sum, d);
        if (lane >= d) sum += other;
    }
    if (lane == 31) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    for (int w = 0; w < int(threadIdx.x / 32); ++w) sum += of_warp[w];
    return sum - x;
}

struct pass {
    const unsigned *keys, *values;
    unsigned *keys_to, *values_to;
    const int *totals;
    unsigned *next_tile, *told; // told[t * digits + d]: by tile t, of digit d
    int n, shift;
};

template <bool floats, bool pairs> __global__ __launch_bounds__(block) void sweep(pass p)
{
    __shared__ int counts[warps][digits], place[digits], tile_of_block;
    const int t = threadIdx.x, lane = t % 32, w = t / 32;
    if (t == 0) tile_of_block = atomicAdd(p.next_tile, 1u);
    for (int k = 0; k < warps; ++k) counts[k][t] = 0;
    __syncthreads();
    const int mine = tile_of_block, first = mine * tile + w * per_warp + lane;
    unsigned key[per_thread];
    int rank[per_thread];
#pragma unroll
    for (int k = 0; k < per_thread; ++k) key[k] = p.n - first > 32 * k ? p.keys[first + 32 * k] : 0;
#pragma unroll
    for (int k = 0; k < per_thread; ++k) {
        bool here = p.n - first > 32 * k; // what is not goes behind all others
        int digit = here ? ordered<floats>(key[k]) >> p.shift & 255 : 255;
        unsigned peers = full;
#pragma unroll
        for (int bit = 0; bit < 8; ++bit) {
            bool one = digit >> bit & 1;
            unsigned ones = __ballot_sync(full, one);
            peers &= one ? ones : ~ones;
        }
        int lower = __popc(peers & ((1u << lane) - 1)), had = counts[w][digit];
        __syncwarp();
        if (lower == 0) counts[w][digit] = had + __popc(peers);
        __syncwarp();
        rank[k] = had + lower;
    }
    __syncthreads();

    // One thread per digit.
    int of_tile = 0;
    for (int k = 0; k < warps; ++k) {
        int c = counts[k][t];
        counts[k][t] = of_tile;
        of_tile += c;
    }
    unsigned *told = p.told + size_t(mine) * digits + t;
    store_relaxed(told, of_tile | (mine == 0 ? all_before : own));
    unsigned earlier = 0;
    for (unsigned back = 1, x = 0; int(back) <= mine && !(x & all_before); ++back) {
        while ((x = load_relaxed(told - size_t(back) * digits)) == 0) {
        }
        earlier += x & count_mask;
    }
    if (mine > 0) store_relaxed(told, (earlier + of_tile) | all_before);
    place[t] = sum_before(p.totals[t]) + earlier;
    __syncthreads();

#pragma unroll
    for (int k = 0; k < per_thread; ++k) {
        if (p.n - first <= 32 * k) continue;
        int digit = ordered<floats>(key[k]) >> p.shift & 255;
        int to = place[digit] + counts[w][digit] + rank[k];
        p.keys_to[to] = key[k];
        if constexpr (pairs) p.values_to[to] = p.values[first + 32 * k];
    }
}

int tiles_of(int n) { return n / tile + (n % tile != 0); }
size_t words(int n) { return passes * (digits + 1 + size_t(tiles_of(n)) * digits); }

template <bool floats, bool pairs> void sort(unsigned *keys, unsigned *values, int n, void *scratch)
{
    if (n == 0) return;
    const int tiles = tiles_of(n);
    unsigned *totals = static_cast<unsigned *>(scratch), *counters = totals + passes * digits;
    unsigned *told = counters + passes, *other = totals + words(n), *other_values = other + n;
    check(cudaMemsetAsync(scratch, 0, sizeof(unsigned) * words(n)), "cudaMemsetAsync");
    count_all<floats><<<std::min(tiles, 512), block>>>(keys, n, reinterpret_cast<int *>(totals));
    check_launch("count_all");
    for (int k = 0; k < passes; ++k) {
        pass p{keys,
               values,
               other,
               other_values,
               reinterpret_cast<int *>(totals) + k * digits,
               counters + k,
               told + size_t(k) * tiles * digits,
               n,
               8 * k};
        sweep<floats, pairs><<<tiles, block>>>(p);
        check_launch("sweep");
        std::swap(keys, other);
        std::swap(values, other_values);
    }
}

} // namespace

void sort_warps(unsigned *keys, int n)
{
    if (n > 0) sort_runs<<<n / block + 1, block>>>(keys, n);
    check_launch("sort_runs");
}

size_t radix_sort_scratch(int n) { return sizeof(unsigned) * (words(n) + n); }
void radix_sort(unsigned *keys, int n, void *scratch)
{
    sort<false, false>(keys, nullptr, n, scratch);
}

size_t radix_sort_pairs_scratch(int n) { return sizeof(unsigned) * (words(n) + 2 * size_t(n)); }
void radix_sort_pairs(unsigned *keys, unsigned *values, int n, void *scratch)
{
    sort<false, true>(keys, values, n, scratch);
}

size_t radix_sort_floats_scratch(int n) { return sizeof(unsigned) * (words(n) + n); }
void radix_sort_floats(float *keys, int n, void *scratch)
{
    sort<true, false>(reinterpret_cast<unsigned *>(keys), nullptr, n, scratch);
}
