// Right: one sweep with 384 threads per block, peers by __match_any_sync, look-back by
// cuda::atomic_ref, and keys staged in dynamic shared memory so that stores are in runs.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda/atomic>
#include <cuda/std/bit>
#include <cuda/std/utility>
#include <cuda_runtime.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <utility>

namespace {

constexpr int kBlock = 384, kWarps = kBlock / 32, kItems = 14, kTile = kBlock * kItems;
constexpr int kRadix = 256, kPasses = 4;

// What a tile tells: nothing yet (0), its own count, or that of all up to it; 64 bits, so that a
// count of 2^30 needs no thought.
using word = unsigned long long;
enum : word { kOwn = 1ull << 62, kUpTo = 2ull << 62, kCount = kOwn - 1 };
template <class T> using shared_by_all = cuda::atomic_ref<T, cuda::thread_scope_device>;

// How a key type maps to bits in order, and back.
struct plain {
    static constexpr __device__ unsigned to(unsigned bits) { return bits; }
    static constexpr __device__ unsigned from(unsigned bits) { return bits; }
};
struct ieee {
    static constexpr __device__ unsigned to(unsigned b) { return b >> 31 ? ~b : b | 1u << 31; }
    static constexpr __device__ unsigned from(unsigned b) { return b >> 31 ? b & ~(1u << 31) : ~b; }
};
template <class C>
concept codec = requires(unsigned b)
{
    {
        C::to(b)
        } -> std::same_as<unsigned>;
    {
        C::from(b)
        } -> std::same_as<unsigned>;
};

struct scratch_layout {
    unsigned totals[kPasses][kRadix], tickets[kPasses];
};

template <codec C> __global__ void histogram(const unsigned *keys, int n, scratch_layout *s)
{
    __shared__ unsigned bins[kPasses][kRadix];
    for (int i = threadIdx.x; i < kPasses * kRadix; i += blockDim.x)
        bins[i / kRadix][i % kRadix] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned k = C::to(keys[i]);
        for (int p = 0; p < kPasses; ++p) atomicAdd(&bins[p][k >> 8 * p & 0xff], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < kPasses * kRadix; i += blockDim.x)
        shared_by_all<unsigned>(s->totals[i / kRadix][i % kRadix])
            .fetch_add(bins[i / kRadix][i % kRadix], cuda::memory_order_relaxed);
}

// Exclusive sums over the first kRadix threads, in shared memory; all threads come here.
__device__ void exclusive_scan(unsigned (&x)[kRadix])
{
    for (int d = 1; d < kRadix; d *= 2) {
        unsigned add = 0;
        if (threadIdx.x < kRadix && int(threadIdx.x) >= d) add = x[threadIdx.x - d];
        __syncthreads();
        if (threadIdx.x < kRadix) x[threadIdx.x] += add;
        __syncthreads();
    }
    unsigned left = threadIdx.x > 0 && threadIdx.x < kRadix ? x[threadIdx.x - 1] : 0;
    __syncthreads();
    if (threadIdx.x < kRadix) x[threadIdx.x] = left;
    __syncthreads();
}

template <codec C> __global__ void __launch_bounds__(kBlock)
    sweep(const unsigned *in, unsigned *out, const unsigned *vin, unsigned *vout, int n, int p,
          scratch_layout *s, word *told)
{
    extern __shared__ unsigned staged[]; // kTile
    __shared__ unsigned counts[kWarps][kRadix], begin[kRadix], shift_by[kRadix];
    __shared__ unsigned ticket;
    const int t = threadIdx.x, lane = t % 32, w = t / 32;
    if (t == 0)
        ticket = shared_by_all<unsigned>(s->tickets[p]).fetch_add(1, cuda::memory_order_relaxed);
    for (int i = t; i < kWarps * kRadix; i += kBlock) counts[i / kRadix][i % kRadix] = 0;
    __syncthreads();
    const int tile = ticket, base = tile * kTile, here = min(kTile, n - base);

    unsigned key[kItems], rank[kItems];
    for (int k = 0; k < kItems; ++k) {
        int i = (w * kItems + k) * 32 + lane;
        bool valid = i < here;
        key[k] = valid ? C::to(in[base + i]) : ~0u;
        unsigned d = valid ? key[k] >> 8 * p & 0xff : kRadix - 1;
        unsigned peers = __match_any_sync(~0u, d);
        int leader = cuda::std::countr_zero(peers);
        unsigned before = counts[w][d];
        __syncwarp();
        if (lane == leader) counts[w][d] = before + cuda::std::popcount(peers);
        __syncwarp();
        rank[k] = before + cuda::std::popcount(peers & ((1u << lane) - 1));
    }
    __syncthreads();

    unsigned total = 0;
    if (t < kRadix) {
        for (auto &row : counts) total += cuda::std::exchange(row[t], total);
        begin[t] = total;
        shift_by[t] = s->totals[p][t];
    }
    __syncthreads();
    exclusive_scan(begin);
    exclusive_scan(shift_by);
    if (t < kRadix) {
        auto at = [=](int tile) { return shared_by_all<word>(told[size_t(tile) * kRadix + t]); };
        word before = 0;
        if (tile > 0) at(tile).store(kOwn | total, cuda::memory_order_relaxed);
        for (int back = tile - 1; back >= 0; --back) {
            word x;
            do x = at(back).load(cuda::memory_order_relaxed);
            while (x == 0);
            before += x & kCount;
            if (x & kUpTo) break;
        }
        at(tile).store(kUpTo | (before + total), cuda::memory_order_relaxed);
        shift_by[t] += unsigned(before) - begin[t]; // from a place in `staged` to one in `out`
    }
    __syncthreads();

    for (int k = 0; k < kItems; ++k) {
        int i = (w * kItems + k) * 32 + lane;
        unsigned d = i < here ? key[k] >> 8 * p & 0xff : kRadix - 1;
        rank[k] += begin[d] + counts[w][d];
        staged[rank[k]] = key[k];
    }
    __syncthreads();
    unsigned to[kItems];
    for (int k = 0; k < kItems; ++k) {
        int i = k * kBlock + t;
        if (i >= here) continue; // padding was staged last
        unsigned x = staged[i];
        to[k] = i + shift_by[x >> 8 * p & 0xff];
        out[to[k]] = C::from(x);
    }
    if (!vin) return;
    __syncthreads();
    for (int k = 0; k < kItems; ++k)
        if (int i = (w * kItems + k) * 32 + lane; i < here) staged[rank[k]] = vin[base + i];
    __syncthreads();
    for (int k = 0; k < kItems; ++k)
        if (int i = k * kBlock + t; i < here) vout[to[k]] = staged[i];
}

// Ranks a run by looking at all of it.
__global__ void sort_runs(unsigned *keys, int n)
{
    const int i = blockIdx.x * kBlock + threadIdx.x, lane = threadIdx.x % 32;
    const int count = min(32, n - (i - lane));
    if (count <= 0) return; // of the whole warp
    const unsigned key = i < n ? keys[i] : ~0u;
    int place = 0;
    for (int l = 0; l < count; ++l) {
        unsigned other = __shfl_sync(~0u, key, l);
        place += other < key || (other == key && l < lane);
    }
    __syncwarp();
    if (i < n) keys[i - lane + place] = key;
}

int tiles(int n) { return n / kTile + (n % kTile > 0); }

size_t zeroed_bytes(int n)
{
    return sizeof(scratch_layout) + size_t(kPasses) * tiles(n) * kRadix * sizeof(word);
}

template <codec C> void sort(unsigned *keys, unsigned *values, int n, void *scratch)
{
    if (n == 0) return;
    auto *s = static_cast<scratch_layout *>(scratch);
    auto *told = reinterpret_cast<word *>(s + 1);
    auto *other = told + size_t(kPasses) * tiles(n) * kRadix;
    unsigned *a = keys, *b = reinterpret_cast<unsigned *>(other), *va = values;
    unsigned *vb = values ? b + n : nullptr;
    check(cudaMemsetAsync(scratch, 0, zeroed_bytes(n)), "cudaMemsetAsync");
    histogram<C><<<std::min(tiles(n), 256), kBlock>>>(keys, n, s);
    check_launch("histogram");
    for (int p = 0; p < kPasses; ++p) {
        sweep<C><<<tiles(n), kBlock, kTile * sizeof(unsigned)>>>(
            a, b, va, vb, n, p, s, told + size_t(p) * tiles(n) * kRadix);
        check_launch("sweep");
        std::swap(a, b), std::swap(va, vb);
    }
}

} // namespace

static_assert(sizeof(scratch_layout) % sizeof(word) == 0);

void sort_warps(unsigned *keys, int n)
{
    if (n == 0) return;
    sort_runs<<<n / kBlock + 1, kBlock>>>(keys, n);
    check_launch("sort_runs");
}

size_t radix_sort_scratch(int n) { return zeroed_bytes(n) + sizeof(unsigned) * n; }
void radix_sort(unsigned *keys, int n, void *scratch) { sort<plain>(keys, nullptr, n, scratch); }

size_t radix_sort_pairs_scratch(int n) { return zeroed_bytes(n) + 2 * sizeof(unsigned) * n; }
void radix_sort_pairs(unsigned *keys, unsigned *values, int n, void *scratch)
{
    sort<plain>(keys, values, n, scratch);
}

size_t radix_sort_floats_scratch(int n) { return zeroed_bytes(n) + sizeof(unsigned) * n; }
void radix_sort_floats(float *keys, int n, void *scratch)
{
    sort<ieee>(reinterpret_cast<unsigned *>(keys), nullptr, n, scratch);
}
