// Lab 06, scan: the file to edit. What each function must do: lab.hpp.
// The lesson: handouts/06_scan.md. Stuck at a TODO: hints.md.
//
// The lab has two sittings. The first, TODOs 1 to 8, is complete by itself: a scan
// within one block, and one of any length in three kernels. The second, TODOs 9 to
// 12, does the same in one kernel, and is worth 9 points of its own.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <cstring>

constexpr int max_in_block = 2048;      // elements of a scan in one block,
constexpr int pairs = max_in_block / 2; // and its threads
constexpr int block_size = 1024;        // threads, and elements, of the others

static int blocks_for(int n) { return n / block_size + (n % block_size != 0); }

// First sitting, part one: one block, two elements per thread.

static __global__ void scan_by_doubling(const int *in, int *out, int n)
{
    // TODO 1 (scan_block_inclusive): In shared memory, for distances 1, 2, 4, ...,
    // each element has the element at that distance to its left added to it: all
    // threads have read before any of them writes. `out` is the result.
    __shared__ int sums[max_in_block];
    int i = threadIdx.x, k = i + pairs;
    sums[i] = i < n ? in[i] : 0;
    sums[k] = k < n ? in[k] : 0;
    __syncthreads();
    for (int distance = 1; distance < n; distance *= 2) {
        int left_of_i = i >= distance ? sums[i - distance] : 0;
        int left_of_k = sums[k - distance];
        __syncthreads(); // all have read before anyone writes
        sums[i] += left_of_i;
        sums[k] += left_of_k;
        __syncthreads();
    }
    if (i < n) out[i] = sums[i];
    if (k < n) out[k] = sums[k];
}

void scan_block_inclusive(const int *in, int *out, int n)
{
    scan_by_doubling<<<1, pairs>>>(in, out, n);
    check_launch("scan_by_doubling");
}

// Returns where element i of the tree is kept.
static __device__ int place(int i)
{
    int skipped = 0;
    // TODO 4 (scan_block_exclusive: shared memory): One word of padding follows
    // every 32, so that elements a power of two apart lie in different banks.
    skipped = i / 32;
    return i + skipped;
}

// Loads two elements per thread into shared memory; those beyond n are 0.
static __device__ void bring(const int *in, int n, int *sums)
{
    int t = threadIdx.x, k = t + pairs;
    sums[place(t)] = t < n ? in[t] : 0;
    sums[place(k)] = k < n ? in[k] : 0;
}

static __global__ void scan_by_tree(const int *in, int *out, int n)
{
    __shared__ int sums[max_in_block + max_in_block / 32];
    bring(in, n, sums);
    // TODO 2 (scan_block_exclusive): Up-sweep. At width 1, 2, 4, ... `pairs` the
    // last element of each pair of neighbouring runs of that width gets the sum of
    // both; a barrier separates one width from the next.
    int t = threadIdx.x, k = t + pairs;
    for (int width = 1; width < max_in_block; width *= 2) {
        int right = (2 * t + 2) * width - 1; // the last element of pair t
        __syncthreads();
        if (right < max_in_block) sums[place(right)] += sums[place(right - width)];
    }
    //
    // TODO 3 (scan_block_exclusive): Down-sweep. The last element of all becomes 0.
    // At every width, widest first, the left run gets the pair's value, and the
    // right run gets that plus the left run's sum. Then `out` is `sums`.
    __syncthreads();
    if (t == 0) sums[place(max_in_block - 1)] = 0;
    for (int width = pairs; width > 0; width /= 2) {
        int right = (2 * t + 2) * width - 1;
        __syncthreads();
        if (right < max_in_block) {
            int left = sums[place(right - width)];
            sums[place(right - width)] = sums[place(right)];
            sums[place(right)] += left;
        }
    }
    __syncthreads();
    if (t < n) out[t] = sums[place(t)];
    if (k < n) out[k] = sums[place(k)];
}

void scan_block_exclusive(const int *in, int *out, int n)
{
    scan_by_tree<<<1, pairs>>>(in, out, n);
    check_launch("scan_by_tree");
}

// First sitting, part two: any length, in three kernels. They are templates over
// the type T of the elements: every partial sum is a T.

// Returns the sum of x over this lane and all before it in the warp.
template <class T> static __device__ T sum_in_warp(T x)
{
    // TODO 5 (scan_inclusive): Distances 1 to 16, as in TODO 1, but the lanes pass
    // x on without any memory: __shfl_up_sync.
    for (int distance = 1; distance < 32; distance *= 2) {
        T left = __shfl_up_sync(0xffffffff, x, distance);
        if (int(threadIdx.x % 32) >= distance) x += left;
    }
    return x;
}

// Returns the sum of x over this thread and all before it in the block.
template <class T> static __device__ T sum_in_block(T x)
{
    T sum = sum_in_warp(x);
    // TODO 6 (scan_inclusive): The sums of all warps before this one are added,
    // too. Shared memory holds one sum per warp, and one warp can scan all 32.
    __shared__ T of_warps[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 31) of_warps[warp] = sum;
    __syncthreads();
    if (warp == 0) of_warps[lane] = sum_in_warp(of_warps[lane]);
    __syncthreads();
    if (warp > 0) sum += of_warps[warp - 1];
    return sum;
}

// First kernel: each block scans its own elements.
template <class T> static __global__ void scan_blocks(const T *in, T *out, int n, T *block_sums)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    T sum = sum_in_block(i < n ? in[i] : T(0));
    // TODO 5 (scan_inclusive): Element i of `out`, if there is one, is the sum.
    if (i < n) out[i] = sum;
    if (threadIdx.x == block_size - 1) block_sums[blockIdx.x] = sum;
}

// Second kernel, one block: each block's sum becomes the sum of those before it.
template <class T> static __global__ void scan_sums(T *block_sums, int blocks)
{
    // TODO 7 (scan_inclusive): The array may have any number of blocks. Each thread
    // has a run of the sums; sum_in_block of the runs' totals gives the sum before
    // each run.
    __shared__ T inclusive[block_size];
    int t = threadIdx.x, run = (blocks + block_size - 1) / block_size;
    int first = min(t * run, blocks), last = min(first + run, blocks);
    T of_run = 0;
    for (int b = first; b < last; ++b) of_run += block_sums[b];
    inclusive[t] = sum_in_block(of_run);
    __syncthreads();
    T before = t > 0 ? inclusive[t - 1] : T(0);
    for (int b = first; b < last; ++b) {
        T here = block_sums[b];
        block_sums[b] = before;
        before += here;
    }
}

// Third kernel: each block adds the sum of all blocks before it.
template <class T> static __global__ void add_before(T *out, int n, const T *block_sums)
{
    // TODO 7 (scan_inclusive): Every element of `out` includes the sum of all
    // blocks before its own.
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) out[i] = block_sums[blockIdx.x] + out[i];
}

// Second sitting: one kernel. Each block scans a tile of the array, publishes its
// sum, and looks back at the states of the tiles before it.

using word = unsigned long long;

// A tile has published nothing yet; or the sum of the tile alone, its aggregate; or
// the sum of the tile and all before it, its inclusive prefix.
enum state : unsigned { invalid, aggregate, prefix };

// One warp publishes; each tile has two words for its state and sum.
template <class T> static __device__ void publish(volatile word *tiles, int tile, state kind, T sum)
{
    // TODO 10 (scan_inclusive: one pass): Other blocks can read state and sum, and
    // none of them ever sees a new state with an old sum. 32 bits of a sum fit into
    // one word with the state; 64 bits need both words, each with the state.
    if (threadIdx.x % 32 != 0) return;
    unsigned bits[2] = {};
    memcpy(bits, &sum, sizeof(T));
    for (int k = 0; k < int(sizeof(T)) / 4; ++k) tiles[2 * tile + k] = word(kind) << 32 | bits[k];
}

// Returns the sum of all elements before the tile, in each lane of one warp.
template <class T> static __device__ T look_back(const volatile word *tiles, int tile)
{
    T before = 0;
    // TODO 11 (scan_inclusive: one pass): `before` is the sum of the nearest prefix
    // and of all aggregates behind it. The lanes read 32 tiles at a time, and read
    // again while a tile that they need is still invalid.
    int lane = threadIdx.x % 32;
    unsigned prefixes = 0;
    for (int nearest = tile - 1; nearest >= 0 && prefixes == 0; nearest -= 32) {
        unsigned kind = prefix, needed;
        T sum = 0;
        do {
            if (lane <= nearest) {
                const volatile word *of = tiles + 2 * (nearest - lane);
                word w[2] = {of[0], sizeof(T) > 4 ? of[1] : 0};
                unsigned bits[2] = {unsigned(w[0]), unsigned(w[1])};
                kind = unsigned(w[0] >> 32);
                if (sizeof(T) > 4 && w[1] >> 32 != kind) kind = invalid;
                memcpy(&sum, bits, sizeof(T));
            }
            prefixes = __ballot_sync(0xffffffff, kind == prefix);
            needed = prefixes ^ (prefixes - 1); // the lanes up to the first prefix
        } while (__ballot_sync(0xffffffff, kind == invalid) & needed);
        if (!(needed >> lane & 1)) sum = 0;
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
        before += sum;
    }
    return before;
}

template <class T>
static __global__ void scan_tiles(const T *in, T *out, int n, int *tiles_taken, word *tiles)
{
    __shared__ T before;
    int tile = blockIdx.x;
    // TODO 9 (scan_inclusive: one pass): Blocks get their tiles in the order in
    // which they begin, from a counter: then a block can wait for any tile before
    // its own, because that one's block has begun.
    __shared__ int taken;
    if (threadIdx.x == 0) taken = atomicAdd(tiles_taken, 1);
    __syncthreads();
    tile = taken;
    int i = tile * block_size + threadIdx.x;
    T sum = sum_in_block(i < n ? in[i] : T(0));
    if (threadIdx.x >= block_size - 32) { // the last warp, whose last lane has the tile's sum
        T of_tile = __shfl_sync(0xffffffff, sum, 31);
        publish(tiles, tile, aggregate, of_tile);
        T of_others = look_back<T>(tiles, tile);
        publish(tiles, tile, prefix, of_others + of_tile);
        before = of_others;
    }
    __syncthreads();
    if (i < n) out[i] = before + sum;
}

constexpr int each = 4; // neighbours per thread

template <class T>
static __global__ void scan_large_tiles(const T *in, T *out, int n, int *tiles_taken, word *tiles)
{
    __shared__ T before, inclusive[block_size];
    __shared__ int tile;
    int t = threadIdx.x;
    if (t == 0) tile = atomicAdd(tiles_taken, 1);
    __syncthreads();
    int first = (tile * block_size + t) * each;
    T x[each], of_thread = 0;
    for (int k = 0; k < each; ++k) {
        x[k] = first + k < n ? in[first + k] : T(0);
        of_thread += x[k];
    }
    T sum = sum_in_block(of_thread);
    inclusive[t] = sum;
    if (t >= block_size - 32) {
        T of_tile = __shfl_sync(0xffffffff, sum, 31);
        publish(tiles, tile, aggregate, of_tile);
        T of_others = look_back<T>(tiles, tile);
        publish(tiles, tile, prefix, of_others + of_tile);
        before = of_others;
    }
    __syncthreads();
    sum = t > 0 ? before + inclusive[t - 1] : before;
    for (int k = 0; k < each; ++k) {
        sum += x[k];
        if (first + k < n) out[first + k] = sum;
    }
}

// Scratch: two words per tile, and how many tiles have been taken.
template <class T> static void scan_in_one_pass(const T *in, T *out, int n, void *scratch)
{
    word *tiles = static_cast<word *>(scratch);
    // TODO 12 (scan_inclusive: large tiles): Each thread has several elements of a
    // tile, so that there are fewer tiles to publish, to look back at and to wait
    // for.
    int large_tiles = (n - 1) / (each * block_size) + 1;
    check(cudaMemsetAsync(scratch, 0, (2 * large_tiles + 1) * sizeof(word)), "clearing the states");
    scan_large_tiles<<<large_tiles, block_size>>>(
        in, out, n, reinterpret_cast<int *>(tiles + 2 * large_tiles), tiles);
    check_launch("scan_large_tiles");
    return;
    int blocks = blocks_for(n);
    int *tiles_taken = reinterpret_cast<int *>(tiles + 2 * blocks);
    // TODO 9 (scan_inclusive: one pass): At the launch no tile has been taken, and
    // every state is invalid. Until then the contents of scratch are undefined.
    check(cudaMemsetAsync(scratch, 0, (2 * blocks + 1) * sizeof(word)), "clearing the states");
    scan_tiles<<<blocks, block_size>>>(in, out, n, tiles_taken, tiles);
    check_launch("scan_tiles");
}

// Both sittings.

template <class T> static void scan(const T *in, T *out, int n, void *scratch)
{
    int blocks = blocks_for(n);
    T *block_sums = static_cast<T *>(scratch);
    if (blocks == 0) return;
    // TODO 11 (scan_inclusive: one pass): scan_in_one_pass stands in place of these
    // three kernels.
    return scan_in_one_pass(in, out, n, scratch);
    scan_blocks<<<blocks, block_size>>>(in, out, n, block_sums);
    check_launch("scan_blocks");
    scan_sums<<<1, block_size>>>(block_sums, blocks);
    check_launch("scan_sums");
    add_before<<<blocks, block_size>>>(out, n, block_sums);
    check_launch("add_before");
}

// The first sitting needs a sum per block, the second no more than this.
static size_t scratch_for(int n) { return sizeof(word) * (2 * size_t(blocks_for(n)) + 1); }

size_t scan_inclusive_scratch(int n) { return scratch_for(n); }

void scan_inclusive(const int *in, int *out, int n, void *scratch) { scan(in, out, n, scratch); }

size_t scan_inclusive_int64_scratch(int n) { return scratch_for(n); }

void scan_inclusive_int64(const std::int64_t *in, std::int64_t *out, int n, void *scratch)
{
    scan(in, out, n, scratch);
}

size_t scan_inclusive_float_scratch(int n) { return scratch_for(n); }

void scan_inclusive_float(const float *in, float *out, int n, void *scratch)
{
    scan(in, out, n, scratch);
}

size_t scan_exclusive_scratch(int n) { return scratch_for(n); }

void scan_exclusive(const int *in, int *out, int n, void *scratch)
{
    // TODO 8 (scan_exclusive): Your own design. When the other scans are right,
    // little remains to be done.
    if (n == 0) return;
    check(cudaMemsetAsync(out, 0, sizeof(int)), "the first sum");
    scan(in, out + 1, n - 1, scratch); // the exclusive sums are the inclusive ones, one later
}
