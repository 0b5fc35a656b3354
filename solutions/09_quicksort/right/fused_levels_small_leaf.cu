// Right: one grid a level, whose first blocks sort leaves of 4000 keys while the others split parts
// three ways; scratch is a static device buffer of the file's own that grows, and cuda::atomic_ref
// reserves.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda/atomic>
#include <cuda/std/utility>
#include <cuda_runtime.h>

namespace {

constexpr unsigned threads = 352, leaf = 4000, tile = 6 * threads; // eleven warps: why not

struct part {
    unsigned at, n, first_tile, pivot;
};
struct level {
    unsigned *data, *from, *to;
    part *now, *then, *leaves;
    unsigned long long *moved; // smaller | larger << 32
    unsigned count, tiles, leaf_count;
    __device__ unsigned blocks() const { return leaf_count + tiles; }
};

template <class T> __device__ T add_to(T &where, T what)
{
    return cuda::atomic_ref<T, cuda::thread_scope_device>(where).fetch_add(
        what, cuda::memory_order_relaxed);
}

// Runs of 2, 4, 8, ... keys: first compared with their mirror images, then at halved distances.
__device__ void sort_leaf(const level &l, part p)
{
    extern __shared__ unsigned keys[];
    for (unsigned i = threadIdx.x; i < p.n; i += threads) keys[i] = l.from[p.at + i];
    __syncthreads();
    auto in_order = [&](unsigned low, unsigned high) {
        if (high < p.n && keys[low] > keys[high]) cuda::std::swap(keys[low], keys[high]);
    };
    for (unsigned bits = 1; 1u << (bits - 1) < p.n; ++bits) {
        for (unsigned i = threadIdx.x; i < p.n; i += threads)
            if (unsigned mirror = i ^ ((1u << bits) - 1); mirror > i) in_order(i, mirror);
        __syncthreads();
        for (unsigned d = 1u << bits >> 2; d > 0; d /= 2) {
            for (unsigned c = threadIdx.x; (c & ~(d - 1)) * 2 < p.n; c += threads) {
                unsigned low = c + (c & ~(d - 1));
                in_order(low, low + d);
            }
            __syncthreads();
        }
    }
    for (unsigned i = threadIdx.x; i < p.n; i += threads) l.data[p.at + i] = keys[i];
    __syncthreads();
}

__device__ void split_tile(const level &l, unsigned t)
{
    unsigned which = 0;
    for (unsigned step = 1u << 31 >> __clz(l.count | 1); step > 0; step /= 2)
        if (which + step < l.count && l.now[which + step].first_tile <= t) which += step;
    const part p = l.now[which];
    const unsigned lane = threadIdx.x % 32, below = (1u << lane) - 1,
                   first = (t - p.first_tile) * tile;
    for (unsigned row = threadIdx.x - lane; row < tile; row += threads) { // 32 keys of a warp
        const unsigned i = first + row + lane;
        const unsigned key = i < p.n ? l.from[p.at + i] : p.pivot;
        const unsigned smaller = __ballot_sync(~0u, key < p.pivot);
        const unsigned larger = __ballot_sync(~0u, key > p.pivot);
        unsigned long long had = 0;
        if (lane == 0)
            had =
                add_to(l.moved[which], __popc(smaller) | (unsigned long long)__popc(larger) << 32);
        had = __shfl_sync(~0u, had, 0);
        if (key < p.pivot) l.to[p.at + unsigned(had) + __popc(smaller & below)] = key;
        if (key > p.pivot)
            l.to[p.at + p.n - 1 - unsigned(had >> 32) - __popc(larger & below)] = key;
    }
}

__device__ void do_block(const level &l, unsigned b)
{
    if (b < l.leaf_count)
        sort_leaf(l, l.leaves[b]);
    else
        split_tile(l, b - l.leaf_count);
}
__global__ void __launch_bounds__(threads) do_level(level l) { do_block(l, blockIdx.x); }

// Nine samples, of which the middle one by counting.
__device__ unsigned choose_pivot(const unsigned *keys, unsigned n)
{
    unsigned s[9];
    for (unsigned k = 0; k < 9; ++k) s[k] = keys[__umulhi((k * 477218589u) ^ (n * 2654435761u), n)];
    for (unsigned k = 0; k < 9; ++k) {
        unsigned before = 0;
        for (unsigned j = 0; j < 9; ++j) before += s[j] < s[k] || (s[j] == s[k] && j < k);
        if (before == 4) return s[k];
    }
    return s[0];
}

// A block makes the next level of what was split, and fills in what equals the pivots.
__device__ void next_level(level &l)
{
    __shared__ unsigned long long made; // parts << 32 | tiles
    __shared__ unsigned leaves;
    if (threadIdx.x == 0) made = leaves = 0;
    __syncthreads();
    auto add = [&](unsigned at, unsigned n) {
        if (n == 0) return;
        if (n <= leaf) {
            l.leaves[atomicAdd(&leaves, 1)] = {at, n, 0, 0};
            return;
        }
        auto had = atomicAdd(&made, 1ull << 32 | ((n - 1) / tile + 1));
        l.then[had >> 32] = {at, n, unsigned(had), choose_pivot(l.to + at, n)};
    };
    for (unsigned i = threadIdx.x; i < l.count; i += threads) {
        const part p = l.now[i];
        const unsigned smaller = unsigned(l.moved[i]), larger = l.moved[i] >> 32;
        add(p.at, smaller);
        add(p.at + p.n - larger, larger);
    }
    for (unsigned i = 0; i < l.count; ++i) {
        const part p = l.now[i];
        const unsigned end = p.n - unsigned(l.moved[i] >> 32);
        for (unsigned k = unsigned(l.moved[i]) + threadIdx.x; k < end; k += threads)
            l.data[p.at + k] = p.pivot;
    }
    __syncthreads();
    cuda::std::swap(l.now, l.then);
    cuda::std::swap(l.from, l.to);
    l.count = made >> 32, l.tiles = unsigned(made), l.leaf_count = leaves;
    for (unsigned i = threadIdx.x; i < l.count; i += threads) l.moved[i] = 0;
    __syncthreads();
}

__global__ void go_on(level l);

__device__ void see_to(level &l)
{
    __shared__ bool later, beside;
    do {
        next_level(l);
        if (threadIdx.x == 0) {
            later = beside = false;
            if (l.count > 0) {
                go_on<<<1, threads, leaf * sizeof(unsigned), cudaStreamTailLaunch>>>(l);
                later = cudaGetLastError() == cudaSuccess;
            }
            if (l.blocks() > 0 && (later || l.count == 0)) {
                do_level<<<l.blocks(), threads, leaf * sizeof(unsigned), cudaStreamFireAndForget>>>(
                    l);
                beside = cudaGetLastError() == cudaSuccess;
            }
        }
        __syncthreads();
        if (!beside)
            for (unsigned b = 0; b < l.blocks(); ++b) do_block(l, b);
        __syncthreads();
    } while (!later && l.count > 0);
}
__global__ void go_on(level l) { see_to(l); }

__global__ void start(level l, unsigned n)
{
    if (threadIdx.x == 0) {
        l.now[0] = {0, n, 0, 0}; // as if it had been split, and all its keys been larger
        l.moved[0] = (unsigned long long)n << 32;
    }
    __syncthreads();
    see_to(l);
}

// Made when it is first wanted, and anew when it is too small; the program's end frees it.
char *buffer_of(size_t bytes)
{
    static char *at = nullptr;
    static size_t has = 0;
    if (bytes > has) {
        check(cudaFree(at), "cudaFree"); // waits for whoever still uses it
        at = nullptr, has = 0;
        check(cudaMalloc(&at, bytes), "cudaMalloc");
        has = bytes;
    }
    return at;
}

} // namespace

size_t quicksort_scratch(int) { return 0; }

void quicksort(unsigned *data, int n, void *)
{
    if (n < 2) return;
    size_t parts = n / leaf + 1;
    char *at = buffer_of(parts * (8 + 5 * sizeof(part)) + sizeof(unsigned) * n);
    level l{};
    l.data = l.to = data;
    l.moved = reinterpret_cast<unsigned long long *>(at);
    l.now = reinterpret_cast<part *>(l.moved + parts);
    l.then = l.now + parts;
    l.leaves = l.then + parts; // three times as many
    l.from = reinterpret_cast<unsigned *>(l.leaves + 3 * parts);
    l.count = 1;
    start<<<1, threads, leaf * sizeof(unsigned)>>>(l, n);
    check_launch("start");
}
