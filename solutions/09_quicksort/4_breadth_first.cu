// Lab 09, rung 4: the parts of a level are split by one grid, and those that are small enough
// sorted by another, so that there are three launches per level and not two per part.
//
// New: lists of parts instead of launches; splitting from one buffer to the other, by warps that
// reserve their places with an atomic; and a block, launched at the tail of the one before it, that
// makes parts of what has been split. From rung 3: three parts out of one, and the network.
// Unchanged: quicksort_recursive.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int threads = 256, leaf = 2048; // a leaf is sorted by one block
constexpr int per_thread = 16, per_warp = 32 * per_thread, tile = threads * per_thread;
constexpr unsigned all_lanes = 0xffffffff;

struct part {
    int at, n, first_tile;
    unsigned pivot;
    bool equal; // all keys equal the pivot: nothing to split
};

// What is sorted goes to `data`; `from` and `to` take turns to hold what is not.
struct level {
    unsigned *data, *from, *to;
    part *parts, *next_parts, *leaves;
    unsigned long long *moved; // of each part: keys smaller than the pivot, larger ones << 32
    int count, tiles, leaf_count;
};

static __device__ int tiles_for(int n) { return (n - 1) / tile + 1; }

// Runs of 2, 4, 8, ... keys: of two sorted ones the second is first compared from its end. Every
// comparison leaves the smaller key at the lower place, so that nothing is missing behind the last.
static __device__ void sort_block(unsigned *keys, int n)
{
    for (int run = 2; run < 2 * n; run *= 2)
        for (int d = run / 2; d > 0; d /= 2) {
            // Pair i: number i % d of d, and d is a power of two.
            for (int i = threadIdx.x; (i & -d) * 2 < n; i += threads) {
                int first = (i & -d) * 2, at = i & (d - 1), low = first + at;
                int high = d == run / 2 ? first + run - 1 - at : low + d;
                if (high >= n) continue;
                unsigned a = keys[low], b = keys[high];
                if (a > b) keys[low] = b, keys[high] = a;
            }
            __syncthreads();
        }
}

static __device__ void sort_leaf(const level &l, int which)
{
    __shared__ unsigned keys[leaf];
    part p = l.leaves[which];
    for (int i = threadIdx.x; i < p.n; i += threads) keys[i] = p.equal ? p.pivot : l.from[p.at + i];
    __syncthreads();
    if (!p.equal) sort_block(keys, p.n);
    for (int i = threadIdx.x; i < p.n; i += threads) l.data[p.at + i] = keys[i];
}

static __device__ const part &part_of(const level &l, int t)
{
    int which = 0, behind = l.count;
    while (behind - which > 1) {
        int middle = (which + behind) / 2;
        (l.parts[middle].first_tile <= t ? which : behind) = middle;
    }
    return l.parts[which];
}

// Smaller keys go to the front of the part, larger ones to its end; those equal to the pivot are
// not moved, for it is known what they are.
static __device__ void split_tile(const level &l, int t)
{
    const part &p = part_of(l, t);
    int lane = threadIdx.x % 32, smaller = 0, larger = 0;
    int first = (t - p.first_tile) * tile + threadIdx.x / 32 * per_warp + lane;
    if (p.equal) {
        for (int i = first; i < min(first + per_warp, p.n); i += 32) l.data[p.at + i] = p.pivot;
        return;
    }
    unsigned keys[per_thread];
#pragma unroll
    for (int k = 0; k < per_thread; ++k) {
        keys[k] = first + 32 * k < p.n ? l.from[p.at + first + 32 * k] : p.pivot;
        smaller += __popc(__ballot_sync(all_lanes, keys[k] < p.pivot));
        larger += __popc(__ballot_sync(all_lanes, keys[k] > p.pivot));
    }
    unsigned long long had = 0, mine = smaller | (unsigned long long)larger << 32;
    if (lane == 0) had = atomicAdd(&l.moved[&p - l.parts], mine);
    had = __shfl_sync(all_lanes, had, 0);
    unsigned *front = l.to + p.at + unsigned(had), *back = l.to + p.at + p.n - 1 - (had >> 32);
    unsigned below = (1u << lane) - 1;
#pragma unroll
    for (unsigned key : keys) {
        unsigned s = __ballot_sync(all_lanes, key < p.pivot);
        unsigned g = __ballot_sync(all_lanes, key > p.pivot);
        if (key < p.pivot) front[__popc(s & below)] = key;
        if (key > p.pivot) back[-__popc(g & below)] = key;
        front += __popc(s);
        back -= __popc(g);
    }
}

// Turns what has been split, of l.parts, into the parts and leaves of the next level.
static __device__ void make_parts(level &l)
{
    __shared__ unsigned long long made; // parts << 32 | their tiles
    __shared__ int leaves;
    __syncthreads();
    if (threadIdx.x == 0) made = leaves = 0;
    __syncthreads();
    auto add = [&](int at, int n, bool equal, unsigned pivot) {
        if (n == 0) return;
        part p{at, n, 0, pivot, equal};
        if (n <= leaf) {
            l.leaves[atomicAdd(&leaves, 1)] = p;
            return;
        }
        if (!equal) { // the median of three keys, each from anywhere
            const unsigned *keys = l.to + at;
            unsigned any = n * 2654435761u;
            unsigned a = keys[__umulhi(any, n)], b = keys[__umulhi(3 * any, n)];
            unsigned c = keys[__umulhi(5 * any, n)];
            p.pivot = max(min(a, b), min(max(a, b), c));
        }
        unsigned long long had = atomicAdd(&made, 1ull << 32 | unsigned(tiles_for(n)));
        p.first_tile = unsigned(had);
        l.next_parts[had >> 32] = p;
    };
    for (int i = threadIdx.x; i < l.count; i += threads) {
        part p = l.parts[i];
        if (p.equal) continue;
        int smaller = unsigned(l.moved[i]), larger = l.moved[i] >> 32;
        add(p.at, smaller, false, 0);
        add(p.at + smaller, p.n - smaller - larger, true, p.pivot);
        add(p.at + p.n - larger, larger, false, 0);
    }
    __syncthreads();
    l = {l.data,   l.to,    l.from,          l.next_parts,        l.parts,
         l.leaves, l.moved, int(made >> 32), int(unsigned(made)), leaves};
    for (int i = threadIdx.x; i < l.count; i += threads) l.moved[i] = 0;
    __syncthreads(); // the first thread launches what needs all that the others have written
}

static __global__ void __launch_bounds__(threads) split(const __grid_constant__ level l)
{
    split_tile(l, blockIdx.x);
}
static __global__ void __launch_bounds__(threads) sort_leaves(const __grid_constant__ level l)
{
    sort_leaf(l, blockIdx.x);
}
static __global__ void go_on(level l);

static __device__ bool taken() { return cudaGetLastError() == cudaSuccess; }

// Launches a level: what sorts its leaves and what splits its parts, next to each other, and at the
// tail, when both are done, what goes on. What is refused the block does itself.
static __device__ void launch_levels(level l)
{
    __shared__ bool later, splitting, sorting;
    do {
        make_parts(l);
        if (threadIdx.x == 0) {
            later = l.count == 0;
            if (!later) {
                go_on<<<1, threads, 0, cudaStreamTailLaunch>>>(l);
                later = taken();
            }
            splitting = sorting = false;
            if (later && l.count > 0) {
                split<<<l.tiles, threads, 0, cudaStreamFireAndForget>>>(l);
                splitting = taken();
            }
            if (later && l.leaf_count > 0) {
                sort_leaves<<<l.leaf_count, threads, 0, cudaStreamFireAndForget>>>(l);
                sorting = taken();
            }
        }
        __syncthreads();
        for (int t = 0; t < l.tiles && !splitting; ++t) split_tile(l, t);
        for (int i = 0; i < l.leaf_count && !sorting; ++i, __syncthreads()) sort_leaf(l, i);
        __syncthreads();
    } while (!later);
}

static __global__ void __launch_bounds__(threads) go_on(level l) { launch_levels(l); }

// All keys are what is larger than the pivot of a part that was split before.
static __global__ void __launch_bounds__(threads) start(level l, int n)
{
    if (threadIdx.x == 0) {
        l.parts[0] = {0, n, 0, 0, false};
        l.moved[0] = (unsigned long long)n << 32;
    }
    __syncthreads();
    launch_levels(l);
}

// Scratch: as many keys as there are, and the lists.
static size_t lay_out(char *scratch, unsigned *data, int n, level &l)
{
    char *next = scratch;
    auto take = [&next](size_t bytes) {
        char *at = next;
        next += (bytes + 255) / 256 * 256;
        return at;
    };
    size_t parts = n / leaf + 1; // of a level; leaves: three of each
    l.data = l.to = data;
    l.from = reinterpret_cast<unsigned *>(take(sizeof(unsigned) * n));
    l.parts = reinterpret_cast<part *>(take(sizeof(part) * parts));
    l.next_parts = reinterpret_cast<part *>(take(sizeof(part) * parts));
    l.leaves = reinterpret_cast<part *>(take(3 * sizeof(part) * parts));
    l.moved = reinterpret_cast<unsigned long long *>(take(sizeof(unsigned long long) * parts));
    l.count = 1, l.tiles = l.leaf_count = 0;
    return next - scratch;
}

size_t quicksort_scratch(int n)
{
    level l;
    return lay_out(nullptr, nullptr, n, l);
}

void quicksort(unsigned *data, int n, void *scratch)
{
    if (n < 2) return;
    level l;
    lay_out(static_cast<char *>(scratch), data, n, l);
    start<<<1, threads>>>(l, n);
    check_launch("start");
}
