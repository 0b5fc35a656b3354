// Lab 09, worked: quicksort with many pivots, and shared memory used with care.
//
// From rung 5: all but these. New: pivots lie as a tree, so that a warp's searches rarely
// conflict in a bank; the keys of a bucket are brought together before they leave, so that they lie
// side by side; and the network keeps eight keys in registers for three of its steps. What several
// kernels need is compiled once. At the end: quicksort_recursive, as in rung 1.
// Same points: conflicts, registers and coalesced stores are steps that only the clock sees.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int threads = 256, per_thread = 32, tile = threads * per_thread;
constexpr int leaf = 8192, usual_leaf = 4096; // keys: a block sorts so many at most; as a rule
constexpr int max_buckets = threads, samples = 4096;
constexpr int max_sampled_levels = 8; // then pivots by value, whatever the keys
constexpr unsigned all_lanes = 0xffffffff, largest = 0xffffffff;

// `n` keys from `at` on, all from `low` to `high`. Where these are equal there is nothing to split:
// no buckets.
struct part {
    int at, n, first_tile, buckets;
    unsigned low, high;
};

// A level: its parts go from `from` to `to`, split; what is sorted then ends in `data`.
struct plan {
    unsigned *data, *from, *to;
    part *parts, *next_parts;
    unsigned *pivots;         // max_buckets for each part: the smallest key of each bucket but 0
    int *places;              // the same: keys counted; then where the next one goes
    unsigned long long *next; // parts of the next level << 32 | their tiles
    int *step;                // of this level: the first that has not been launched
    int count, tiles, level;
};
enum steps { choosing, counting, laying_out, moving, sorting, all_steps };

static __host__ __device__ int tiles_for(int n) { return (n - 1) / tile + 1; }
static __device__ int padded(int i) { return i + i / 32; } // apart, for the banks

// A block's shared memory, for whichever step it takes.
struct of_tile {
    unsigned staged[tile], tree[max_buckets];
    unsigned char bucket_of[tile];
    int counts[max_buckets], starts[max_buckets], places[max_buckets], part;
};
union block_memory {
    unsigned sorted[leaf + leaf / 32];
    of_tile tile;
};
static __device__ block_memory &shared()
{
    __shared__ block_memory all;
    return all;
}

// How many keys the threads before this one have.
static __device__ int sum_before(int x)
{
    __shared__ int sums[threads / 32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = x;
    for (int d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(all_lanes, sum, d);
        if (lane >= d) sum += left;
    }
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    for (int w = 0; w < warp; ++w) sum += sums[w];
    return sum - x;
}

// Sorting in shared memory: a network, in which every comparison leaves the smaller key at the
// lower place, so that what lies behind the last key is never moved.

static __device__ void compare_exchange(unsigned &a, unsigned &b)
{
    unsigned smaller = min(a, b);
    b = max(a, b);
    a = smaller;
}

// At distances `first`, half of it, ..., 1.
template <int first> static __device__ void at_distances(unsigned (&r)[8])
{
    for (int d = first; d > 0; d /= 2)
        for (int i = 0; i < 8; ++i)
            if ((i & d) == 0) compare_exchange(r[i], r[i + d]);
}

// Two sorted runs of `half`, the second from its end.
template <int half> static __device__ void mirrored(unsigned (&r)[8])
{
    for (int i = 0; i < 8; ++i)
        if ((i & half) == 0) compare_exchange(r[i], r[i ^ (2 * half - 1)]);
    at_distances<half / 2>(r);
}

// Each thread takes groups of eight keys, key c of group g from place(g, c), to its registers.
template <class P, class F>
static __device__ void in_groups(unsigned *keys, int n, int size, P place, F compare)
{
    for (int g = threadIdx.x; g < size / 8 && place(g, 0) < n; g += threads) {
        unsigned r[8];
        for (int c = 0; c < 8; ++c) r[c] = keys[padded(place(g, c))];
        compare(r);
        for (int c = 0; c < 8; ++c) keys[padded(place(g, c))] = r[c];
    }
    __syncthreads();
}

// Not inlined: it is long, and several kernels call it.
static __device__ __noinline__ void sort_shared(int n)
{
    unsigned *keys = shared().sorted;
    int size = 8;
    while (size < n) size *= 2;
    for (int i = n + threadIdx.x; i < size; i += threads) keys[padded(i)] = largest;
    __syncthreads();
    auto apart = [](int q) { // a group's keys, q places from one to the next
        return [q](int g, int c) { return (g & -q) * 8 + (g & (q - 1)) + c * q; };
    };
    in_groups(keys, n, size, apart(1), [](unsigned(&r)[8]) {
        mirrored<1>(r);
        mirrored<2>(r);
        mirrored<4>(r);
    });
    for (int run = 16; run <= size; run *= 2) {
        int q = run / 8, d = run / 16;
        auto both_ends = [q, run](int g, int c) {
            int first = (g & -q) * 8, at = g & (q - 1);
            return c < 4 ? first + at + c * q : first + run - 1 - at - (7 - c) * q;
        };
        in_groups(keys, n, size, both_ends, [](unsigned(&r)[8]) { mirrored<4>(r); });
        for (; d >= 4; d /= 8)
            in_groups(keys, n, size, apart(d / 4), [](unsigned(&r)[8]) { at_distances<4>(r); });
        if (d == 2) in_groups(keys, n, size, apart(1), [](unsigned(&r)[8]) { at_distances<2>(r); });
        if (d == 1) in_groups(keys, n, size, apart(1), [](unsigned(&r)[8]) { at_distances<1>(r); });
    }
}

static __device__ void sort_to(const unsigned *from, unsigned *to, int n)
{
    unsigned *keys = shared().sorted;
    for (int i = threadIdx.x; i < n; i += threads) keys[padded(i)] = from[i];
    sort_shared(n);
    for (int i = threadIdx.x; i < n; i += threads) to[i] = keys[padded(i)];
}

// The five steps of a level, each by a block for every part, tile or bucket.

// Pivots are keys of the part, evenly spaced in a sorted sample. One that occurs twice is common:
// the second becomes the next larger value, so that a bucket is left for nothing but that key.
static __device__ void choose_pivots(const plan &s, int p)
{
    unsigned *sample = shared().sorted;
    const part of = s.parts[p];
    int b = threadIdx.x;
    s.places[p * max_buckets + b] = 0;
    if (of.buckets == 0) return;
    for (int i = b; i < samples; i += threads) {
        unsigned anywhere = (s.level * samples + i) * 2654435761u;
        sample[padded(i)] = s.from[of.at + __umulhi(anywhere, of.n)];
    }
    sort_shared(samples);
    if (b == 0 || b >= of.buckets) return;
    int spacing = samples / of.buckets;
    unsigned pivot = sample[padded(b * spacing)], before = sample[padded((b - 1) * spacing)];
    if (b > 1 && pivot == before && pivot != largest) ++pivot;
    if (s.level >= max_sampled_levels) {
        unsigned range = of.high - of.low, width = max(1u, range / of.buckets);
        pivot = of.low + min(range, b * width);
    }
    s.pivots[p * max_buckets + b] = pivot;
}

// A block's tile, and the bucket of each of its keys.
struct tile_keys {
    int p, n, buckets; // the part, how many keys of it, how many buckets it has
    int first;         // where they begin
    unsigned equal;    // every key, where there are no buckets
    unsigned key[per_thread];
    int bucket[per_thread];
    __device__ bool has(int k) const { return int(threadIdx.x) + k * threads < n; }
};

// The pivots as a tree, the middle one at 1 and the two after node i at 2 * i and 2 * i + 1: what a
// warp asks for in one step lies side by side, in different banks.
static __device__ void build_pivot_tree(const unsigned *pivots, int buckets)
{
    int node = threadIdx.x;
    if (node == 0 || node >= buckets) return;
    int row = 31 - __clz(node);
    shared().tile.tree[node] = pivots[((2 * node + 1) * buckets >> (row + 1)) - buckets];
}

static __device__ void load_tile(const plan &s, int t, tile_keys &mine)
{
    of_tile &block = shared().tile;
    for (int i = threadIdx.x; i < s.count; i += threads) {
        int first = s.parts[i].first_tile;
        if (first <= t && t < first + tiles_for(s.parts[i].n)) block.part = i;
    }
    __syncthreads();
    mine.p = block.part;
    const part of = s.parts[mine.p];
    int behind = (t - of.first_tile) * tile;
    mine.n = min(tile, of.n - behind), mine.buckets = of.buckets;
    mine.first = of.at + behind, mine.equal = of.low;
    if (of.buckets == 0) return;
    build_pivot_tree(s.pivots + mine.p * max_buckets, of.buckets);
    for (int k = 0; k < per_thread; ++k) {
        mine.key[k] = mine.has(k) ? s.from[mine.first + threadIdx.x + k * threads] : 0;
        mine.bucket[k] = 1;
    }
    __syncthreads();
    for (int row = 1; row < of.buckets; row *= 2)
        for (int k = 0; k < per_thread; ++k)
            mine.bucket[k] = 2 * mine.bucket[k] + (mine.key[k] >= block.tree[mine.bucket[k]]);
    for (int &bucket : mine.bucket) bucket -= of.buckets;
}

static __device__ void count_keys(const plan &s, int t)
{
    int *counts = shared().tile.counts;
    tile_keys mine;
    counts[threadIdx.x] = 0;
    load_tile(s, t, mine);
    if (mine.buckets == 0) return;
    for (int k = 0; k < per_thread; ++k)
        if (mine.has(k)) atomicAdd(&counts[mine.bucket[k]], 1);
    __syncthreads();
    int count = counts[threadIdx.x];
    if (count > 0) atomicAdd(&s.places[mine.p * max_buckets + threadIdx.x], count);
}

static __device__ int buckets_for(int n, unsigned low, unsigned high)
{
    int buckets = 4; // with fewer, two equal pivots need not make a part smaller
    while (buckets < max_buckets && buckets * usual_leaf < n) buckets *= 2;
    return low == high ? 0 : buckets;
}

// Places in part p, and the parts of the next level: buckets that are too large to be sorted.
static __device__ void lay_out(const plan &s, int p)
{
    const part of = s.parts[p];
    if (of.buckets == 0) return;
    int b = threadIdx.x, *place = &s.places[p * max_buckets + b], n = *place;
    int at = of.at + sum_before(n);
    *place = at;
    const unsigned *pivots = s.pivots + p * max_buckets;
    if (n <= leaf) return;
    unsigned low = b == 0 ? of.low : pivots[b];
    unsigned high = b + 1 == of.buckets ? of.high : pivots[b + 1] - 1;
    if (low == high && s.to == s.data) return;
    unsigned long long had = atomicAdd(s.next, 1ull << 32 | unsigned(tiles_for(n)));
    s.next_parts[had >> 32] = {at, n, int(unsigned(had)), buckets_for(n, low, high), low, high};
}

// Keys of a bucket are brought together first: they leave side by side.
static __device__ void move_keys(const plan &s, int t)
{
    of_tile &block = shared().tile;
    tile_keys mine;
    int b = threadIdx.x;
    block.counts[b] = 0;
    load_tile(s, t, mine);
    if (mine.buckets == 0) {
        for (int i = b; i < mine.n; i += threads) s.to[mine.first + i] = mine.equal;
        return;
    }
    // Beside the bucket: how many keys of the tile came before to it.
    for (int k = 0; k < per_thread; ++k)
        if (mine.has(k))
            mine.bucket[k] |= atomicAdd(&block.counts[mine.bucket[k]], 1) * max_buckets;
    __syncthreads();
    int count = block.counts[b], start = sum_before(count);
    block.starts[b] = start;
    if (count > 0) block.places[b] = atomicAdd(&s.places[mine.p * max_buckets + b], count) - start;
    __syncthreads();
    for (int k = 0; k < per_thread; ++k) {
        if (!mine.has(k)) break;
        int bucket = mine.bucket[k] % max_buckets;
        int at = block.starts[bucket] + mine.bucket[k] / max_buckets;
        block.staged[at] = mine.key[k];
        block.bucket_of[at] = bucket;
    }
    __syncthreads();
    for (int i = b; i < mine.n; i += threads)
        s.to[block.places[block.bucket_of[i]] + i] = block.staged[i];
}

// After moving, a bucket's place is where it ends, and the next one's begins.
static __device__ void sort_bucket(const plan &s, int block)
{
    const part &of = s.parts[block / max_buckets];
    if (block % max_buckets >= of.buckets) return;
    int from = block % max_buckets == 0 ? of.at : s.places[block - 1];
    int n = s.places[block] - from;
    if (n > 0 && n <= leaf) sort_to(s.to + from, s.data + from, n);
}

// Launching them.

static __device__ void work(int step, const plan &s, int block)
{
    if (step == choosing) choose_pivots(s, block);
    if (step == counting) count_keys(s, block);
    if (step == laying_out) lay_out(s, block);
    if (step == moving) move_keys(s, block);
    if (step == sorting) sort_bucket(s, block);
}

template <int step> static __global__ void __launch_bounds__(threads, 2)
    run(const __grid_constant__ plan s)
{
    work(step, s, blockIdx.x);
}

static __device__ int blocks_for(int step, const plan &s)
{
    bool by_tile = step == counting || step == moving;
    return by_tile ? s.tiles : step == sorting ? s.count * max_buckets : s.count;
}

// Into the block's own stream: one step after another.
static __device__ bool launched(int step, const plan &s)
{
    int blocks = blocks_for(step, s);
    if (step == choosing) run<choosing><<<blocks, threads>>>(s);
    if (step == counting) run<counting><<<blocks, threads>>>(s);
    if (step == laying_out) run<laying_out><<<blocks, threads>>>(s);
    if (step == moving) run<moving><<<blocks, threads>>>(s);
    if (step == sorting) run<sorting><<<blocks, threads>>>(s);
    return cudaGetLastError() == cudaSuccess;
}

// For a block that was refused all launches. Compiled once, not for each kernel that may need it.
static __device__ __noinline__ void work_alone(int step, const plan &s)
{
    for (int block = 0; block < blocks_for(step, s); ++block) {
        work(step, s, block);
        __syncthreads();
    }
}

static __global__ void go_on(plan s);

// Launches the steps of a level, and behind them, at the tail, itself. What is refused, and all
// after it, is left to the tail; if nothing was taken, this block does a step itself.
static __device__ void launch_level(plan s)
{
    __shared__ int begun, later;
    for (;;) {
        int step = *s.step;
        if (step == all_steps) { // of the level before
            s.count = *s.next >> 32, s.tiles = int(unsigned(*s.next)), ++s.level, step = 0;
            part *parts = s.parts;
            s.parts = s.next_parts, s.next_parts = parts;
            unsigned *from = s.from;
            s.from = s.to, s.to = from;
        }
        if (s.count == 0) return;
        __syncthreads();
        if (threadIdx.x == 0) {
            if (step == 0) *s.next = 0;
            go_on<<<1, threads, 0, cudaStreamTailLaunch>>>(s);
            later = cudaGetLastError() == cudaSuccess;
            begun = step;
            if (later)
                while (begun < all_steps && launched(begun, s)) ++begun;
            *s.step = max(begun, step + 1);
        }
        __syncthreads();
        if (begun == step) work_alone(step, s);
        if (later) return;
        __syncthreads();
    }
}

static __global__ void __launch_bounds__(threads) go_on(plan s) { launch_level(s); }

static __global__ void __launch_bounds__(threads) start(plan s, int n)
{
    if (n <= leaf) return sort_to(s.data, s.data, n);
    if (threadIdx.x == 0) {
        s.parts[0] = {0, n, 0, buckets_for(n, 0, largest), 0, largest};
        *s.step = choosing;
    }
    __syncthreads();
    launch_level(s);
}

// Scratch: as many keys as there are, and what `plan` says of each part of a level.
static size_t lay_out_scratch(char *scratch, unsigned *data, int n, plan &s)
{
    char *next = scratch;
    auto take = [&next](size_t bytes) {
        char *at = next;
        next += (bytes + 255) / 256 * 256;
        return at;
    };
    size_t parts = n / leaf + 1;
    s.data = s.from = data;
    s.to = reinterpret_cast<unsigned *>(take(sizeof(unsigned) * n));
    s.parts = reinterpret_cast<part *>(take(sizeof(part) * parts));
    s.next_parts = reinterpret_cast<part *>(take(sizeof(part) * parts));
    s.pivots = reinterpret_cast<unsigned *>(take(sizeof(unsigned) * max_buckets * parts));
    s.places = reinterpret_cast<int *>(take(sizeof(int) * max_buckets * parts));
    s.next = reinterpret_cast<unsigned long long *>(take(sizeof(unsigned long long)));
    s.step = reinterpret_cast<int *>(take(sizeof(int)));
    s.count = 1, s.tiles = tiles_for(n), s.level = 0;
    return next - scratch;
}

size_t quicksort_scratch(int n)
{
    plan s;
    return n > leaf ? lay_out_scratch(nullptr, nullptr, n, s) : 0;
}

void quicksort(unsigned *data, int n, void *scratch)
{
    if (n < 2) return;
    plan s;
    lay_out_scratch(static_cast<char *>(scratch), data, n, s);
    start<<<1, threads>>>(s, n);
    check_launch("start");
}

// quicksort_recursive: one kernel, a block for each part.

constexpr int small_part = 256; // keys that are not split

// A key's place is its rank: how many keys are smaller, and how many equal ones stand before it.
static __device__ void sort_by_rank(unsigned *keys, unsigned *scratch, int n)
{
    for (int i = threadIdx.x; i < n; i += threads) {
        unsigned key = keys[i];
        int rank = 0;
        for (int k = 0; k < n; ++k) rank += keys[k] < key || (keys[k] == key && k < i);
        scratch[rank] = key;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += threads) keys[i] = scratch[i];
}

static __global__ void quicksort_part(unsigned *keys, unsigned *scratch, int n);

// Launches the kernel for one side, if that is worth it. What was refused the block sorts itself.
static __device__ void sort_side(unsigned *keys, unsigned *scratch, int n)
{
    __shared__ bool taken;
    __syncthreads(); // A child sees what the launching thread has seen: all that the block wrote.
    if (threadIdx.x == 0) {
        taken = n > small_part;
        if (taken) {
            quicksort_part<<<1, threads, 0, cudaStreamFireAndForget>>>(keys, scratch, n);
            taken = cudaGetLastError() == cudaSuccess;
        }
    }
    __syncthreads();
    if (!taken) sort_by_rank(keys, scratch, n);
}

// Keys that equal the pivot are done. So every level ends with fewer keys, whatever they are.
static __global__ void quicksort_part(unsigned *keys, unsigned *scratch, int n)
{
    if (n <= small_part) return sort_by_rank(keys, scratch, n);
    __shared__ int smaller, larger;
    if (threadIdx.x == 0) smaller = larger = 0;
    __syncthreads();
    unsigned any = n * 2654435761u; // The pivot is the median of three keys, from anywhere.
    unsigned a = keys[__umulhi(any, n)], b = keys[__umulhi(3 * any, n)];
    unsigned c = keys[__umulhi(5 * any, n)], pivot = max(min(a, b), min(max(a, b), c));
    for (int i = threadIdx.x; i < n; i += threads) {
        unsigned key = keys[i];
        if (key < pivot) scratch[atomicAdd(&smaller, 1)] = key;
        if (key > pivot) scratch[n - 1 - atomicAdd(&larger, 1)] = key;
    }
    __syncthreads();
    int first = smaller, last = n - larger; // of those that equal the pivot, and behind them
    for (int i = threadIdx.x; i < n; i += threads)
        keys[i] = i < first || i >= last ? scratch[i] : pivot;
    sort_side(keys, scratch, first);
    sort_side(keys + last, scratch + last, n - last);
}

size_t quicksort_recursive_scratch(int n) { return sizeof(unsigned) * n; }

void quicksort_recursive(unsigned *data, int n, void *scratch)
{
    if (n > 1) quicksort_part<<<1, threads>>>(data, static_cast<unsigned *>(scratch), n);
    check_launch("quicksort_part");
}
