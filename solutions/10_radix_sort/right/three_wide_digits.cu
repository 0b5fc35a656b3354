// Right: three passes by digits of 11, 11 and 10 bits, so that two scratch arrays end in the input
// array; one sweep per pass with 16-bit counters for each warp, peers by __match_any_sync, and
// look-back by eight digits per thread. Runs are sorted by counting smaller keys with shuffles.
// Schedules: late random
#include "../check.hpp"
#include "lab.hpp"

#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

namespace cg = cooperative_groups;

namespace {

constexpr int threads = 256, warps = threads / 32, per_lane = 24, tile = threads * per_lane;
constexpr int passes = 3, radix = 1 << 11, digits_per_thread = radix / threads;
constexpr unsigned aggregate = 1u << 30, inclusive = 1u << 31, count_mask = aggregate - 1;

enum class order : bool { of_integers, of_floats };

// From the bits of a key to an integer of the same order, and back.
template <order o> __device__ unsigned to_integer(unsigned bits)
{
    if constexpr (o == order::of_floats) return bits >> 31 ? ~bits : bits | 1u << 31;
    return bits;
}
template <order o> __device__ unsigned from_integer(unsigned key)
{
    if constexpr (o == order::of_floats) return key >> 31 ? key ^ 1u << 31 : ~key;
    return key;
}

template <int pass> __device__ unsigned digit_of(unsigned key)
{
    return key >> (11 * pass) & (radix - 1); // the last has 10 bits
}

// What all passes of a call share; the words from `totals` on begin as zeros.
struct tables {
    unsigned *totals; // [pass][digit]: counts, then where the digit begins
    unsigned *ticket; // [pass]: tiles are taken in order
    unsigned *state;  // [pass][tile][digit]: a flag and a count
};

template <order o> __global__ void __launch_bounds__(threads)
    count_digits(const unsigned *keys, int n, tables t)
{
    __shared__ unsigned counts[passes][radix];
    unsigned *all = &counts[0][0];
    for (int i = threadIdx.x; i < passes * radix; i += threads) all[i] = 0;
    __syncthreads();
    for (std::int64_t i = blockIdx.x * threads + threadIdx.x; i < n; i += gridDim.x * threads) {
        const unsigned key = to_integer<o>(keys[i]);
        atomicAdd(&counts[0][digit_of<0>(key)], 1);
        atomicAdd(&counts[1][digit_of<1>(key)], 1);
        atomicAdd(&counts[2][digit_of<2>(key)], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < passes * radix; i += threads)
        if (all[i] > 0) atomicAdd(t.totals + i, all[i]);
}

// One block per pass.
__global__ void __launch_bounds__(threads) scan_totals(tables t)
{
    __shared__ unsigned sums[warps];
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    unsigned *row = t.totals + blockIdx.x * radix + threadIdx.x * digits_per_thread;
    unsigned sum = 0;
    for (int k = 0; k < digits_per_thread; ++k) sum += row[k];
    unsigned before = sum;
    for (unsigned d = 1; d < 32; d *= 2) {
        const unsigned left = warp.shfl_up(before, d);
        if (warp.thread_rank() >= d) before += left;
    }
    if (warp.thread_rank() == 31) sums[warp.meta_group_rank()] = before;
    __syncthreads();
    before -= sum;
    for (unsigned w = 0; w < warp.meta_group_rank(); ++w) before += sums[w];
    for (int k = 0; k < digits_per_thread; ++k) {
        const unsigned count = row[k];
        row[k] = before;
        before += count;
    }
}

using published = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

// The keys of one digit in all tiles before this one, which has `count`.
__device__ unsigned look_back(unsigned *state, int which, unsigned count)
{
    unsigned before = 0;
    if (which > 0) {
        published(*state).store(aggregate | count, cuda::memory_order_relaxed);
        for (unsigned *at = state - radix;; at -= radix) {
            unsigned seen;
            do seen = published(*at).load(cuda::memory_order_relaxed);
            while (seen == 0);
            before += seen & count_mask;
            if (seen & inclusive) break;
        }
    }
    published(*state).store(inclusive | (before + count), cuda::memory_order_relaxed);
    return before;
}

struct arrays {
    const unsigned *keys, *values;
    unsigned *keys_to, *values_to; // no values: null
};

template <order o, int pass> __global__ void __launch_bounds__(threads)
    sweep(arrays a, int n, tables t, int tiles)
{
    __shared__ std::uint16_t counts[warps][radix];
    __shared__ unsigned begin[radix];
    __shared__ int taken;
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const unsigned w = warp.meta_group_rank(), lane = warp.thread_rank();
    if (threadIdx.x == 0) taken = atomicAdd(t.ticket + pass, 1);
    for (int d = lane; d < radix; d += 32) counts[w][d] = 0;
    __syncthreads();
    const int which = taken;
    const int first = which * tile + w * 32 * per_lane + lane;

    unsigned keys[per_lane];
    std::uint16_t ranks[per_lane];
#pragma unroll
    for (int k = 0; k < per_lane; ++k) {
        const bool valid = first + 32 * k < n;
        keys[k] = valid ? a.keys[first + 32 * k] : 0;
        if constexpr (pass == 0) keys[k] = to_integer<o>(keys[k]);
        const unsigned digit = valid ? digit_of<pass>(keys[k]) : radix; // which none has
        const unsigned peers = __match_any_sync(~0u, digit);
        const unsigned had = valid ? counts[w][digit] : 0;
        const unsigned lower = __popc(peers & ((1u << lane) - 1));
        warp.sync();
        if (valid && lower == 0) counts[w][digit] = had + __popc(peers);
        warp.sync();
        ranks[k] = had + lower;
    }
    __syncthreads();

    for (int k = 0; k < digits_per_thread; ++k) {
        const int digit = k * threads + threadIdx.x;
        unsigned sum = 0;
        for (int other = 0; other < warps; ++other) {
            const unsigned count = counts[other][digit];
            counts[other][digit] = sum;
            sum += count;
        }
        unsigned *state = t.state + (std::size_t(pass) * tiles + which) * radix + digit;
        begin[digit] = t.totals[pass * radix + digit] + look_back(state, which, sum);
    }
    __syncthreads();

#pragma unroll
    for (int k = 0; k < per_lane; ++k) {
        if (first + 32 * k >= n) break;
        const unsigned digit = digit_of<pass>(keys[k]);
        const unsigned to = begin[digit] + counts[w][digit] + ranks[k];
        a.keys_to[to] = pass == passes - 1 ? from_integer<o>(keys[k]) : keys[k];
        if (a.values) a.values_to[to] = a.values[first + 32 * k];
    }
}

// A lane's key goes where as many keys lie before it as are smaller, or equal and further left.
__global__ void sort_runs(unsigned *keys, int n)
{
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    const unsigned lane = warp.thread_rank(), key = i < n ? keys[i] : ~0u;
    unsigned place = 0;
    for (unsigned l = 0; l < 32; ++l) {
        const unsigned other = warp.shfl(key, l);
        place += other < key || (other == key && l < lane);
    }
    warp.sync(); // all have read before any lane writes: a shuffle orders no memory
    if (i < n) keys[i - lane + place] = key;
}

int tiles_for(int n) { return (n - 1) / tile + 1; }

std::size_t table_words(int n)
{
    return passes * radix + 64 + std::size_t(passes) * tiles_for(n) * radix;
}

template <order o> void sort(unsigned *keys, unsigned *values, int n, void *scratch)
{
    if (n == 0) return;
    const int tiles = tiles_for(n);
    auto *word = static_cast<unsigned *>(scratch);
    const tables t{word, word + passes * radix, word + passes * radix + 64};
    unsigned *a = word + table_words(n), *b = a + n;
    unsigned *values_a = values ? b + n : nullptr, *values_b = values ? values_a + n : nullptr;
    check(cudaMemsetAsync(scratch, 0, table_words(n) * sizeof *word), "cudaMemsetAsync");
    count_digits<o><<<std::min(tiles, 512), threads>>>(keys, n, t);
    check_launch("count_digits");
    scan_totals<<<passes, threads>>>(t);
    check_launch("scan_totals");
    sweep<o, 0><<<tiles, threads>>>({keys, values, a, values_a}, n, t, tiles);
    check_launch("sweep by the low digit");
    sweep<o, 1><<<tiles, threads>>>({a, values_a, b, values_b}, n, t, tiles);
    check_launch("sweep by the middle digit");
    sweep<o, 2><<<tiles, threads>>>({b, values_b, keys, values}, n, t, tiles);
    check_launch("sweep by the high digit");
}

std::size_t bytes_for(int n, int arrays)
{
    return n == 0 ? 0 : sizeof(unsigned) * (table_words(n) + std::size_t(arrays) * n);
}

} // namespace

void sort_warps(unsigned *keys, int n)
{
    if (n == 0) return;
    sort_runs<<<(n - 1) / threads + 1, threads>>>(keys, n);
    check_launch("sort_runs");
}

size_t radix_sort_scratch(int n) { return bytes_for(n, 2); }
void radix_sort(unsigned *keys, int n, void *scratch)
{
    sort<order::of_integers>(keys, nullptr, n, scratch);
}

size_t radix_sort_pairs_scratch(int n) { return bytes_for(n, 4); }
void radix_sort_pairs(unsigned *keys, unsigned *values, int n, void *scratch)
{
    sort<order::of_integers>(keys, values, n, scratch);
}

size_t radix_sort_floats_scratch(int n) { return bytes_for(n, 2); }
void radix_sort_floats(float *keys, int n, void *scratch)
{
    sort<order::of_floats>(reinterpret_cast<unsigned *>(keys), nullptr, n, scratch);
}
