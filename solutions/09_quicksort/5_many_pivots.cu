// Lab 09, rung 5: many pivots. A level splits each of its parts into up to 256 buckets, so that two
// levels are enough for 2^26 keys, where there were about thirty.
//
// From rung 4: levels, the block that launches them, and the network. New: pivots from a sorted
// sample, and for that two passes, count and move, since a bucket's place is known only after
// counting. These steps follow each other in the block's own stream; what is refused, and all after
// it, is launched once more at the tail.
// Unchanged: quicksort_recursive.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int threads = 256, per_thread = 16, tile = threads * per_thread;
constexpr int leaf = 4096, usual_leaf = 2048; // keys: a block sorts so many at most; as a rule
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

// A block's shared memory, for whichever step it takes.
union block_memory {
    unsigned sorted[leaf];
    struct {
        unsigned pivots[max_buckets];
        int counts[max_buckets], places[max_buckets], part;
    } tile;
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

// Two sorted runs become one of `run` keys: the first is compared with the mirror image of the
// second, then keys d apart, d halving. Every comparison leaves the smaller key at the lower place,
// so that nothing is missing behind the last.
static __device__ void sort_shared(unsigned *keys, int n)
{
    __syncthreads();
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

static __device__ void sort_to(const unsigned *from, unsigned *to, int n)
{
    unsigned *keys = shared().sorted;
    for (int i = threadIdx.x; i < n; i += threads) keys[i] = from[i];
    sort_shared(keys, n);
    for (int i = threadIdx.x; i < n; i += threads) to[i] = keys[i];
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
        sample[i] = s.from[of.at + __umulhi(anywhere, of.n)];
    }
    sort_shared(sample, samples);
    if (b == 0 || b >= of.buckets) return;
    int spacing = samples / of.buckets;
    unsigned pivot = sample[b * spacing], before = sample[(b - 1) * spacing];
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

static __device__ void load_tile(const plan &s, int t, tile_keys &mine)
{
    auto &block = shared().tile;
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
    int b = threadIdx.x;
    if (b > 0 && b < of.buckets) block.pivots[b] = s.pivots[mine.p * max_buckets + b];
    for (int k = 0; k < per_thread; ++k) {
        mine.key[k] = mine.has(k) ? s.from[mine.first + threadIdx.x + k * threads] : 0;
        mine.bucket[k] = 0;
    }
    __syncthreads();
    for (int half = of.buckets / 2; half > 0; half /= 2)
        for (int k = 0; k < per_thread; ++k)
            if (mine.key[k] >= block.pivots[mine.bucket[k] + half]) mine.bucket[k] += half;
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

static __device__ void move_keys(const plan &s, int t)
{
    auto &block = shared().tile;
    tile_keys mine;
    int b = threadIdx.x;
    block.counts[b] = 0;
    load_tile(s, t, mine);
    if (mine.buckets == 0) {
        for (int i = b; i < mine.n; i += threads) s.to[mine.first + i] = mine.equal;
        return;
    }
    int rank[per_thread]; // of a key, among those of the tile that go to its bucket
    for (int k = 0; k < per_thread; ++k)
        if (mine.has(k)) rank[k] = atomicAdd(&block.counts[mine.bucket[k]], 1);
    __syncthreads();
    int count = block.counts[b];
    if (count > 0) block.places[b] = atomicAdd(&s.places[mine.p * max_buckets + b], count);
    __syncthreads();
    for (int k = 0; k < per_thread; ++k)
        if (mine.has(k)) s.to[block.places[mine.bucket[k]] + rank[k]] = mine.key[k];
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

template <int step> static __global__ void __launch_bounds__(threads)
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
        if (begun == step)
            for (int block = 0; block < blocks_for(step, s); ++block) {
                work(step, s, block);
                __syncthreads();
            }
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
