// Right: 31 pivots a part; count, plan and move follow each other in the block's own stream; a
// driver at the tail, launched first, does what was refused of them. Leaves are radix-sorted by
// blocks.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda/std/array>
#include <cuda_runtime.h>

namespace {

constexpr int threads = 256, each = 17, leaf_size = threads * each, tile = 4096;
constexpr int pivots = 31, buckets = 2 * pivots + 1; // odd ones: equal to a pivot

struct part {
    int at, n, first_tile;
    cuda::std::array<unsigned, pivots> pivot;
    int place[buckets]; // first counts, then where the next key goes
};
struct leaf {
    int at, n;
    bool sorted;
};
struct list_of_leaves {
    int count;
    leaf *at;
};

// In device memory, for all kernels of the call.
struct control {
    unsigned *data, *from, *to;
    part *parts, *next;
    int count, next_count, tiles, taken; // taken: how many stages of this level were launched
    list_of_leaves leaves[2];            // those that are being sorted, and those of the next level
};

__device__ int bucket_of(const part &p, unsigned key)
{
    int b = 0; // pivots that are smaller
#pragma unroll
    for (int step = 16; step > 0; step /= 2) b += p.pivot[b + step - 1] < key ? step : 0;
    return 2 * b + (b < pivots && p.pivot[b] == key);
}

template <bool moving> __device__ void handle_tile(control &c, int t)
{
    __shared__ int counts[buckets], which;
    __shared__ part p; // its pivots are asked for all the time
    __syncthreads();
    for (int i = threadIdx.x; i < c.count; i += threads)
        if (c.parts[i].first_tile <= t && (i + 1 == c.count || c.parts[i + 1].first_tile > t))
            which = i;
    if (threadIdx.x < buckets) counts[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x < pivots) p.pivot[threadIdx.x] = c.parts[which].pivot[threadIdx.x];
    if (threadIdx.x == 0) p.at = c.parts[which].at, p.n = c.parts[which].n;
    __syncthreads();
    constexpr int per_thread = tile / threads;
    const int first = (t - c.parts[which].first_tile) * tile + threadIdx.x;
    unsigned keys[per_thread];
    short bucket[per_thread], rank[per_thread];
#pragma unroll
    for (int k = 0; k < per_thread; ++k)
        if (int i = first + k * threads; i < p.n) {
            keys[k] = c.from[p.at + i];
            bucket[k] = bucket_of(p, keys[k]);
            rank[k] = atomicAdd(&counts[bucket[k]], 1);
        }
    __syncthreads();
    if (threadIdx.x < buckets && counts[threadIdx.x] > 0)
        counts[threadIdx.x] = atomicAdd(&c.parts[which].place[threadIdx.x], counts[threadIdx.x]);
    if constexpr (moving) {
        __syncthreads();
#pragma unroll
        for (int k = 0; k < per_thread; ++k)
            if (first + k * threads < p.n) c.to[p.at + counts[bucket[k]] + rank[k]] = keys[k];
    }
}

// Makes places of counts, and lists what there will be when all keys have moved.
__device__ void make_plan(control &c)
{
    __shared__ int made, leaves;
    if (threadIdx.x == 0) made = leaves = 0;
    __syncthreads();
    leaf *list = c.leaves[1].at;
    for (int i = threadIdx.x; i < c.count; i += threads) {
        part &p = c.parts[i];
        int place = 0, open = 0; // what lies from `open` on has not been listed
        auto close = [&](int end) {
            if (end > open) list[atomicAdd(&leaves, 1)] = {p.at + open, end - open, false};
            open = end;
        };
        for (int b = 0; b < buckets; ++b) {
            int n = p.place[b], begin = place;
            p.place[b] = begin;
            place += n;
            if (place - open <= leaf_size) continue; // joins its neighbours
            close(begin);
            if (n <= leaf_size) continue;
            if (b % 2)
                for (; open < place; open = min(open + leaf_size, place))
                    list[atomicAdd(&leaves, 1)] = {p.at + open, min(leaf_size, place - open), true};
            else
                c.next[atomicAdd(&made, 1)] = {p.at + begin, n};
            open = place;
        }
        close(place);
    }
    __syncthreads();
    if (threadIdx.x == 0) c.next_count = made, c.leaves[1].count = leaves;
    __syncthreads();
}

// A block sorts a leaf, four bits at a time: keys of a thread are neighbours, and each thread
// counts for itself.
__device__ void sort_leaf(const unsigned *from, unsigned *data, leaf l)
{
    __shared__ unsigned keys[leaf_size];
    __shared__ unsigned short counts[16 * threads];
    __shared__ int sums[threads];
    const int t = threadIdx.x;
    __syncthreads();
    for (int i = t; i < leaf_size; i += threads) keys[i] = i < l.n ? from[l.at + i] : ~0u;
    __syncthreads();
    for (int shift = 0; shift < 32 && !l.sorted; shift += 4) {
        unsigned mine[each];
        int rank[each];
        for (int d = 0; d < 16; ++d) counts[d * threads + t] = 0;
#pragma unroll
        for (int k = 0; k < each; ++k) {
            mine[k] = keys[t * each + k];
            rank[k] = counts[(mine[k] >> shift & 15) * threads + t]++;
        }
        __syncthreads();
        int sum = 0;
        for (int k = 0; k < 16; ++k) sum += counts[t * 16 + k];
        sums[t] = sum;
        for (int d = 1; d < threads; d *= 2) {
            __syncthreads();
            int left = t >= d ? sums[t - d] : 0;
            __syncthreads();
            sums[t] += left;
        }
        int before = sums[t] - sum;
        for (int k = 0; k < 16; ++k) {
            int had = counts[t * 16 + k];
            counts[t * 16 + k] = before;
            before += had;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < each; ++k)
            keys[counts[(mine[k] >> shift & 15) * threads + t] + rank[k]] = mine[k];
        __syncthreads();
    }
    for (int i = t; i < l.n; i += threads) data[l.at + i] = keys[i];
}

__global__ void count_keys(control *c) { handle_tile<false>(*c, blockIdx.x); }
__global__ void plan(control *c) { make_plan(*c); }
__global__ void move_keys(control *c) { handle_tile<true>(*c, blockIdx.x); }
__global__ void sort_leaves(const unsigned *from, unsigned *data, const leaf *leaves)
{
    sort_leaf(from, data, leaves[blockIdx.x]);
}

// What is missing of this level's three stages, by this block alone.
__device__ void make_up_for(control &c)
{
    if (c.taken < 1)
        for (int t = 0; t < c.tiles; ++t) handle_tile<false>(c, t);
    __syncthreads();
    if (c.taken < 2) make_plan(c);
    if (c.taken < 3)
        for (int t = 0; t < c.tiles; ++t) handle_tile<true>(c, t);
    __syncthreads();
}

// Turns what was planned and moved into the level to be done now: tiles, and pivots of a sample.
__device__ void begin_level(control &c)
{
    if (threadIdx.x == 0) {
        part *parts = c.parts;
        c.parts = c.next, c.next = parts;
        unsigned *from = c.from;
        c.from = c.to, c.to = from;
        list_of_leaves leaves = c.leaves[0];
        c.leaves[0] = c.leaves[1], c.leaves[1] = leaves;
        c.count = c.next_count, c.tiles = c.taken = 0;
        for (int i = 0; i < c.count; ++i) {
            c.parts[i].first_tile = c.tiles;
            c.tiles += (c.parts[i].n - 1) / tile + 1;
        }
    }
    __syncthreads();
    const int lane = threadIdx.x % 32;
    for (int i = threadIdx.x / 32; i < c.count; i += threads / 32) { // a warp a part
        part &p = c.parts[i];
        unsigned mine = c.from[p.at + (2ll * lane + 1) * p.n / 64];
        int place = 0;
        for (int l = 0; l < 32; ++l) {
            unsigned other = __shfl_sync(~0u, mine, l);
            place += other < mine || (other == mine && l < lane);
        }
        if (place > 0) p.pivot[place - 1] = mine;
        for (int b = lane; b < buckets; b += 32) p.place[b] = 0;
    }
    __syncthreads();
}

__device__ bool taken() { return cudaGetLastError() == cudaSuccess; }

__global__ void drive(control *c);

__device__ void see_to_levels(control &c)
{
    __shared__ bool tail, leaves_taken;
    do {
        make_up_for(c);
        begin_level(c);
        const list_of_leaves leaves = c.leaves[0];
        if (threadIdx.x == 0) {
            tail = leaves_taken = false;
            if (c.count > 0) {
                drive<<<1, threads, 0, cudaStreamTailLaunch>>>(&c);
                tail = taken();
            }
            if (leaves.count > 0 && (tail || c.count == 0)) {
                sort_leaves<<<leaves.count, threads, 0, cudaStreamFireAndForget>>>(c.from, c.data,
                                                                                   leaves.at);
                leaves_taken = taken();
            }
        }
        __syncthreads();
        if (!leaves_taken)
            for (int i = 0; i < leaves.count; ++i) sort_leaf(c.from, c.data, leaves.at[i]);
        __syncthreads();
        if (threadIdx.x == 0 && tail) {
            // Whoever reads how many were taken comes at the tail; nobody below does.
            int stages = 0;
            count_keys<<<c.tiles, threads>>>(&c);
            if (taken()) {
                stages = 1;
                plan<<<1, threads>>>(&c);
                if (taken()) {
                    stages = 2;
                    move_keys<<<c.tiles, threads>>>(&c);
                    if (taken()) stages = 3;
                }
            }
            c.taken = stages;
        }
        if (tail) return;
    } while (c.count > 0);
}
__global__ void drive(control *c) { see_to_levels(*c); }

__global__ void start(control *c, control first, int n)
{
    if (threadIdx.x == 0) {
        // As if one part, or one leaf, had been moved.
        first.taken = 3;
        first.next_count = n > leaf_size, first.leaves[1].count = n <= leaf_size;
        first.next[0] = {0, n};
        first.leaves[1].at[0] = {0, n, false};
        *c = first;
    }
    __syncthreads();
    see_to_levels(*c);
}

size_t lay_out(char *scratch, unsigned *data, int n, control &c)
{
    size_t used = 256, parts = n / leaf_size + 1; // the control itself comes first
    auto take = [&](size_t bytes) {
        char *at = scratch + used;
        used += (bytes + 255) / 256 * 256;
        return reinterpret_cast<void *>(at);
    };
    c = {};
    c.data = c.to = data;
    c.from = static_cast<unsigned *>(take(sizeof(unsigned) * n));
    c.parts = static_cast<part *>(take(sizeof(part) * parts));
    c.next = static_cast<part *>(take(sizeof(part) * parts));
    for (list_of_leaves &l : c.leaves) l.at = static_cast<leaf *>(take(sizeof(leaf) * 4 * parts));
    return used;
}

} // namespace

size_t quicksort_scratch(int n)
{
    control c;
    return lay_out(nullptr, nullptr, n, c);
}

void quicksort(unsigned *data, int n, void *scratch)
{
    if (n < 2) return;
    control c;
    lay_out(static_cast<char *>(scratch), data, n, c);
    start<<<1, threads>>>(static_cast<control *>(scratch), c, n);
    check_launch("start");
}
