// Lab 06, scan: the file to edit. What each function must do: lab.hpp.
// The lesson: handouts/06_scan.md. Stuck at a TODO: hints.md.
//
// The launches below are in place. A scan of any length has three kernels:
// every block scans its elements; one block scans the blocks' sums; every block
// adds what lies before it. Change kernels, launches and scratch where your
// idea needs it.
// Points: 31
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int most = 2048;       // elements of a scan in one block,
constexpr int pairs = most / 2;  // which has a thread a pair of elements
constexpr int block_size = 1024; // threads, and elements, of the others

static int blocks_for(int n) { return n / block_size + (n % block_size != 0); }

// Part one: one block, two elements a thread.

static __global__ void scan_by_doubling(const int *in, int *out, int n)
{
    // TODO 1 (scan_block_inclusive): Bring the elements to shared memory. For
    // distance 1, 2, 4, ... let each of them add what lies so far to its left;
    // all read before anyone writes. Then write the sums.
    __shared__ int sums[most];
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

// Where element i of the tree is kept.
[[maybe_unused]] static __device__ int place(int i)
{
    int skipped = 0;
    // TODO 4 (scan_block_exclusive: shared memory): When the rest passes: skip
    // one word after every 32, so that elements a power of two apart lie in
    // different banks.
    skipped = i / 32;
    return i + skipped;
}

// Of a tree over `most` elements, where those beyond n are 0.
static __global__ void scan_by_tree(const int *in, int *out, int n)
{
    [[maybe_unused]] __shared__ int sums[most + most / 32];
    // TODO 2 (scan_block_exclusive): Bring the elements to their places in
    // `sums`. Go up the tree: at width 1, 2, 4, ... `pairs`, each pair of
    // neighbouring runs of that width puts the sum of both at its last element.
    //
    // TODO 3 (scan_block_exclusive): Put 0 at the last element, and go down
    // again: at every width the left run of a pair gets what the pair had, and
    // the right run that plus the left run's sum. Then write the elements.
    int t = threadIdx.x;
    sums[place(t)] = t < n ? in[t] : 0;
    sums[place(t + pairs)] = t + pairs < n ? in[t + pairs] : 0;
    for (int width = 1; width < most; width *= 2) {
        int right = (2 * t + 2) * width - 1; // the last element of pair t
        __syncthreads();
        if (right < most) sums[place(right)] += sums[place(right - width)];
    }
    __syncthreads();
    if (t == 0) sums[place(most - 1)] = 0;
    for (int width = pairs; width > 0; width /= 2) {
        int right = (2 * t + 2) * width - 1;
        __syncthreads();
        if (right < most) {
            int left = sums[place(right - width)];
            sums[place(right - width)] = sums[place(right)];
            sums[place(right)] += left;
        }
    }
    __syncthreads();
    if (t < n) out[t] = sums[place(t)];
    if (t + pairs < n) out[t + pairs] = sums[place(t + pairs)];
}

void scan_block_exclusive(const int *in, int *out, int n)
{
    scan_by_tree<<<1, pairs>>>(in, out, n);
    check_launch("scan_by_tree");
}

// Part two: any length, and any type T of elements.

// The sum of x over this lane and all before it in the warp.
template <class T> [[maybe_unused]] static __device__ T sum_in_warp(T x)
{
    // TODO 5 (scan_inclusive): Double the distance, as in TODO 1, but let the
    // lanes pass x on without any memory: __shfl_up_sync.
    for (int distance = 1; distance < 32; distance *= 2) {
        T left = __shfl_up_sync(0xffffffff, x, distance);
        if (int(threadIdx.x % 32) >= distance) x += left;
    }
    return x;
}

// The sum of x over this thread and all before it in the block.
template <class T> [[maybe_unused]] static __device__ T sum_in_block(T x)
{
    [[maybe_unused]] __shared__ T of_warps[32];
    T sum = sum_in_warp(x);
    // TODO 6 (scan_inclusive): Let each warp put the sum of all its lanes into
    // of_warps; let the first warp scan these; add those of the warps before.
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 31) of_warps[warp] = sum;
    __syncthreads();
    if (warp == 0) of_warps[lane] = sum_in_warp(of_warps[lane]);
    __syncthreads();
    if (warp > 0) sum += of_warps[warp - 1];
    return sum;
}

// First kernel: each block scans its elements, and tells its sum.
template <class T, bool inclusive>
static __global__ void scan_blocks(const T *in, T *out, int n, T *block_sums)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    T x = i < n ? in[i] : T(0), sum = sum_in_block(x);
    [[maybe_unused]] T result = sum;
    if (!inclusive) {
        // TODO 10 (scan_exclusive): When scan_inclusive passes: take the
        // element itself off the result.
        result = sum - x;
    }
    // TODO 7 (scan_inclusive): Write the result, if element i exists; and let
    // the last thread write the block's sum.
    if (i < n) out[i] = result;
    if (threadIdx.x == block_size - 1) block_sums[blockIdx.x] = sum;
}

// Second kernel, one block: each block's sum becomes the sum of those before.
template <class T> static __global__ void scan_sums(T *block_sums, int blocks)
{
    // TODO 8 (scan_inclusive): Let each thread add up a run of the sums; let
    // sum_in_block say what comes before each run; then go over the run once
    // more and write.
    __shared__ T up_to[block_size];
    int t = threadIdx.x, run = (blocks + block_size - 1) / block_size;
    int first = min(t * run, blocks), last = min(first + run, blocks);
    T of_run = 0;
    for (int b = first; b < last; ++b) of_run += block_sums[b];
    up_to[t] = sum_in_block(of_run);
    __syncthreads();
    T before = t > 0 ? up_to[t - 1] : T(0);
    for (int b = first; b < last; ++b) {
        T here = block_sums[b];
        block_sums[b] = before;
        before += here;
    }
}

// Third kernel: what lies before a block is added to its sums.
template <class T> static __global__ void add_before(T *out, int n, const T *block_sums)
{
    // TODO 9 (scan_inclusive): Let each thread add it to one element of `out`,
    // if that exists.
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) out[i] = block_sums[blockIdx.x] + out[i];
}

template <class T, bool inclusive> static void scan(const T *in, T *out, int n, void *scratch)
{
    int blocks = blocks_for(n);
    T *block_sums = static_cast<T *>(scratch);
    if (blocks == 0) return;
    // TODO 13 (scan_inclusive: speed): When everything passes: one kernel, in
    // which an element is read once and written once. Let a block tell the
    // others its sum, look back at what the blocks before it have told, and go
    // on as soon as it knows what lies before. And let each thread have several
    // elements.
    // TODO 13 (scan_inclusive: blocks in any order): No block may wait there for
    // one that has not begun.
    scan_blocks<T, inclusive><<<blocks, block_size>>>(in, out, n, block_sums);
    check_launch("scan_blocks");
    scan_sums<<<1, block_size>>>(block_sums, blocks);
    check_launch("scan_sums");
    add_before<<<blocks, block_size>>>(out, n, block_sums);
    check_launch("add_before");
}

// A sum a block.
size_t scan_inclusive_scratch(int n) { return sizeof(int) * blocks_for(n); }
size_t scan_exclusive_scratch(int n) { return sizeof(int) * blocks_for(n); }
size_t scan_inclusive_int64_scratch(int n) { return sizeof(std::int64_t) * blocks_for(n); }
size_t scan_inclusive_float_scratch(int n) { return sizeof(float) * blocks_for(n); }

void scan_inclusive(const int *in, int *out, int n, void *scratch)
{
    scan<int, true>(in, out, n, scratch);
}

void scan_exclusive(const int *in, int *out, int n, void *scratch)
{
    scan<int, false>(in, out, n, scratch);
}

void scan_inclusive_int64([[maybe_unused]] const std::int64_t *in,
                          [[maybe_unused]] std::int64_t *out, [[maybe_unused]] int n,
                          [[maybe_unused]] void *scratch)
{
    // TODO 11 (scan_inclusive_int64): Launch the same kernels for another T.
    // Does any of them keep a sum as int?
    scan<std::int64_t, true>(in, out, n, scratch);
}

void scan_inclusive_float([[maybe_unused]] const float *in, [[maybe_unused]] float *out,
                          [[maybe_unused]] int n, [[maybe_unused]] void *scratch)
{
    // TODO 12 (scan_inclusive_float): The same again. Does any kernel take off
    // what it has added before? Floats do not forget: (1 + big) - big is 0.
    scan<float, true>(in, out, n, scratch);
}
