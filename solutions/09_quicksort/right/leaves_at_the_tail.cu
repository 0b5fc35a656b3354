// Right: depth-first: each part has a grid of its own that splits it three ways, and the block of
// it that is done last launches the grids of both sides; leaves are odd-even merge networks.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

namespace {

constexpr int threads = 512, per_thread = 8, tile = threads * per_thread, leaf = 8192;
constexpr unsigned all = ~0u;

// What the blocks of a part's grid have in common.
struct slot {
    unsigned long long moved; // smaller keys | larger keys << 32
    int done;                 // blocks
};

struct part;

struct arrays {
    unsigned *data, *other;
    slot *slots; // parts are longer than a leaf: that of a part is slots[at / leaf]
    int *leaf_count;
    part *leaves; // room for max_leaves
    int max_leaves;
};

// n keys from `at` on, in data or in other.
struct part {
    int at, n;
    bool in_data;
    unsigned pivot;
};

__device__ const unsigned *keys_of(const arrays &a, const part &p)
{
    return (p.in_data ? a.data : a.other) + p.at;
}

// The median of 31 keys from all over the part. A warp does it; the result is every lane's.
__device__ unsigned choose_pivot(const unsigned *keys, int n)
{
    const int lane = threadIdx.x % 32;
    const unsigned mine = lane < 31 ? keys[(2ll * lane + 1) * n / 62] : all;
    int place = 0;
    for (int l = 0; l < 32; ++l) {
        unsigned other = __shfl_sync(all, mine, l);
        place += other < mine || (other == mine && l < lane);
    }
    __syncwarp(); // whoever launches next does so when all have read
    return __shfl_sync(all, mine, __ffs(__ballot_sync(all, place == 15)) - 1);
}

// A block sorts one leaf: Batcher's odd-even merge sort, for any n.
__device__ void sort_leaf(const arrays &a, const part &p)
{
    __shared__ unsigned keys[leaf];
    const unsigned *from = keys_of(a, p);
    __syncthreads();
    for (int i = threadIdx.x; i < p.n; i += threads) keys[i] = from[i];
    for (int run = 1; run < p.n; run *= 2)
        for (int d = run; d > 0; d /= 2) {
            __syncthreads();
            // Key i with key i + d, in every other stretch of d keys; in all steps but a merge's
            // first, these begin d further on, and nothing is compared across the runs' ends.
            for (int c = threadIdx.x; c / d * 2 * d < p.n; c += threads) {
                int i = c / d * 2 * d + c % d + d % run;
                if (i + d >= p.n || i / (2 * run) != (i + d) / (2 * run)) continue;
                unsigned x = keys[i], y = keys[i + d];
                if (x > y) keys[i] = y, keys[i + d] = x;
            }
        }
    __syncthreads();
    for (int i = threadIdx.x; i < p.n; i += threads) a.data[p.at + i] = keys[i];
}

// A block splits tile t: smaller keys to the front of the part in the other array, larger ones to
// its end; those that equal the pivot need not be moved.
__device__ void split_tile(const arrays &a, const part &p, int t)
{
    __shared__ unsigned long long counts, had;
    __syncthreads();
    if (threadIdx.x == 0) counts = 0;
    __syncthreads();
    const unsigned *from = keys_of(a, p);
    unsigned *to = (p.in_data ? a.other : a.data) + p.at, keys[per_thread];
    unsigned long long mine = 0;
#pragma unroll
    for (int k = 0; k < per_thread; ++k) {
        int i = t * tile + k * threads + threadIdx.x;
        keys[k] = i < p.n ? from[i] : p.pivot;
        mine += keys[k] < p.pivot ? 1ull : keys[k] > p.pivot ? 1ull << 32 : 0ull;
    }
    unsigned long long before = atomicAdd(&counts, mine); // any order will do
    __syncthreads();
    if (threadIdx.x == 0) had = atomicAdd(&a.slots[p.at / leaf].moved, counts);
    __syncthreads();
    before += had;
    unsigned front = unsigned(before), back = p.n - 1 - unsigned(before >> 32);
#pragma unroll
    for (int k = 0; k < per_thread; ++k)
        if (keys[k] < p.pivot)
            to[front++] = keys[k];
        else if (keys[k] > p.pivot)
            to[back--] = keys[k];
}

__device__ int tiles_of(int n) { return (n - 1) / tile + 1; }

struct sides {
    part left, right, equal;
};

// What has come of p. The whole block asks, when all has been split; the slot is as new then.
__device__ sides take_sides(const arrays &a, const part &p)
{
    __shared__ unsigned long long moved;
    __syncthreads();
    if (threadIdx.x == 0) moved = atomicExch(&a.slots[p.at / leaf].moved, 0ull);
    __syncthreads();
    int smaller = unsigned(moved), larger = moved >> 32;
    return {{p.at, smaller, !p.in_data, 0},
            {p.at + p.n - larger, larger, !p.in_data, 0},
            {p.at + smaller, p.n - smaller - larger, true, p.pivot}};
}

__device__ void fill(const arrays &a, const part &p, int first, int step)
{
    for (int i = first; i < p.n; i += step) a.data[p.at + i] = p.pivot;
}

// A block sorts a part of any size all alone: where a launch was refused.
__device__ void sort_alone(const arrays &a, part p)
{
    __shared__ part waiting[32]; // the smaller side is next, so that these are enough
    __shared__ unsigned pivot;
    __shared__ int count;
    __syncthreads();
    if (threadIdx.x == 0) waiting[0] = p, count = 1;
    __syncthreads();
    while (count > 0) {
        p = waiting[count - 1];
        __syncthreads();
        if (threadIdx.x == 0) --count;
        if (p.n <= leaf) {
            sort_leaf(a, p);
            __syncthreads();
            continue;
        }
        if (threadIdx.x < 32) pivot = choose_pivot(keys_of(a, p), p.n);
        __syncthreads();
        p.pivot = pivot;
        for (int t = 0; t < tiles_of(p.n); ++t) split_tile(a, p, t);
        sides s = take_sides(a, p);
        fill(a, s.equal, threadIdx.x, threads);
        if (threadIdx.x == 0) {
            bool left_first = s.left.n < s.right.n;
            waiting[count++] = left_first ? s.right : s.left;
            waiting[count++] = left_first ? s.left : s.right;
        }
        __syncthreads();
    }
}

__global__ void sort_leaves(arrays a) { sort_leaf(a, a.leaves[blockIdx.x]); }
__global__ void fill_equal(arrays a, part p)
{
    fill(a, p, blockIdx.x * threads + threadIdx.x, gridDim.x * threads);
}
__global__ void split(arrays a, part p);

__device__ bool taken() { return cudaGetLastError() == cudaSuccess; }

// A block has this part sorted: later, by others, or by itself.
__device__ void go_on(const arrays &a, part p)
{
    __shared__ bool refused;
    __syncthreads();
    if (threadIdx.x < 32) {
        if (p.n > leaf) p.pivot = choose_pivot(keys_of(a, p), p.n);
        if (threadIdx.x == 0 && p.n > leaf) {
            split<<<tiles_of(p.n), threads, 0, cudaStreamFireAndForget>>>(a, p);
            refused = !taken();
        } else if (threadIdx.x == 0) {
            int place = p.n == 0 ? 0 : atomicAdd(a.leaf_count, 1);
            refused = place >= a.max_leaves; // many bad pivots
            if (p.n > 0 && !refused) a.leaves[place] = p;
        }
    }
    __syncthreads();
    if (refused) sort_alone(a, p);
}

__global__ void __launch_bounds__(threads) split(arrays a, part p)
{
    __shared__ bool last;
    split_tile(a, p, blockIdx.x);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        int *done = &a.slots[p.at / leaf].done;
        last = atomicAdd(done, 1) == int(gridDim.x) - 1;
        if (last) *done = 0; // for the next part that begins here
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    sides s = take_sides(a, p);
    __shared__ bool filled;
    if (threadIdx.x == 0) {
        filled = false;
        if (s.equal.n > 16 * tile) {
            fill_equal<<<min(tiles_of(s.equal.n), 1024), threads, 0, cudaStreamFireAndForget>>>(
                a, s.equal);
            filled = taken();
        }
    }
    __syncthreads();
    if (!filled) fill(a, s.equal, threadIdx.x, threads);
    go_on(a, s.left);
    go_on(a, s.right);
}

// At the tail of `start`: all parts have been split, and all leaves are in the list.
__global__ void finish(arrays a)
{
    __shared__ bool refused;
    const int count = min(*a.leaf_count, a.max_leaves);
    if (threadIdx.x == 0) {
        refused = false;
        if (count > 0) {
            sort_leaves<<<count, threads, 0, cudaStreamFireAndForget>>>(a);
            refused = !taken();
        }
    }
    __syncthreads();
    for (int i = 0; i < count && refused; ++i) sort_leaf(a, a.leaves[i]);
}

__global__ void start(arrays a, int n)
{
    __shared__ bool alone;
    for (int i = threadIdx.x; i <= n / leaf; i += threads) a.slots[i] = {0, 0};
    if (threadIdx.x == 0) {
        *a.leaf_count = 0;
        finish<<<1, threads, 0, cudaStreamTailLaunch>>>(a);
        alone = !taken();
    }
    __syncthreads();
    if (alone)
        sort_alone(a, {0, n, true, 0});
    else
        go_on(a, {0, n, true, 0});
}

size_t slots_at(int n) { return (sizeof(unsigned) * n + 255) / 256 * 256; }

} // namespace

size_t quicksort_scratch(int n)
{
    return slots_at(n) + sizeof(slot) * (n / leaf + 1) + sizeof(int) * 4 +
           sizeof(part) * 8 * (n / leaf + 1);
}

void quicksort(unsigned *data, int n, void *scratch)
{
    if (n < 2) return;
    const int parts = n / leaf + 1;
    arrays a{};
    a.data = data;
    a.other = static_cast<unsigned *>(scratch);
    a.slots = reinterpret_cast<slot *>(static_cast<char *>(scratch) + slots_at(n));
    a.leaf_count = reinterpret_cast<int *>(a.slots + parts);
    a.leaves = reinterpret_cast<part *>(a.leaf_count + 4);
    a.max_leaves = 8 * parts;
    start<<<1, threads>>>(a, n);
    check_launch("start");
}
