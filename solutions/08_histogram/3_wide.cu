// Lab 08, rung 3: 16 bytes per load, and as many blocks as run at a time.
//
// New: rows_of and for_each_of_mine, so that `sum`, too, gives each thread many elements before the
// block combines them. Since an array may begin anywhere, the elements before the first 16-byte
// boundary, and behind the last whole row of a warp, are counted one by one. A tile has such a
// boundary in every row; if there are few tiles, their rows are divided among more blocks.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

constexpr int row_bytes = 512; // one load of a warp: 16 bytes per lane
constexpr int block_size = 256;

static int multiprocessors()
{
    int device = 0, count = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
          "asking for the SMs");
    return count;
}

// As many blocks as run at a time: more would only produce more counts to add up.
template <class K> static int resident_blocks(K kernel, int block_size)
{
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, block_size, 0),
          "asking for the occupancy");
    return multiprocessors() * std::max(blocks, 1);
}

// An array as warps load it: elements up to the first 16-byte boundary, whole rows, the rest.
struct rows_of {
    size_t head, rows;
    template <class T> rows_of(const T *in, size_t n)
    {
        size_t to_boundary = (16 - reinterpret_cast<uintptr_t>(in) % 16) % 16;
        head = std::min(n, to_boundary / sizeof(T));
        rows = (n - head) / (row_bytes / sizeof(T));
    }
};

// Calls whole(v) with this lane's 16 bytes of each row that falls to its warp, and single(x) with
// each other element that falls to this thread. All lanes of a warp call whole together.
template <class V, class T, class W, class S>
static __device__ void for_each_of_mine(const T *in, size_t n, rows_of r, W whole, S single)
{
    const V *at = reinterpret_cast<const V *>(in + r.head) + threadIdx.x % 32;
    size_t warps = size_t(gridDim.x) * (blockDim.x / 32);
    for (size_t row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; row < r.rows; row += warps)
        whole(at[row * 32]);
    if (blockIdx.x > 0) return;
    size_t in_rows = r.rows * (row_bytes / sizeof(T));
    for (size_t j = threadIdx.x; j < n - in_rows; j += blockDim.x)
        single(in[j < r.head ? j : j + in_rows]);
}

// Adds to *out atomically. Of the 64-bit integers atomicAdd takes only unsigned ones; the bits of
// the sum are the same.
static __device__ void add_to(long long *out, long long x)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(out), static_cast<unsigned long long>(x));
}

// Returns the sum of x over the lanes of a warp to its lane 0.
static __device__ long long sum_of_warp(long long x)
{
    for (int distance = 16; distance > 0; distance /= 2) x += __shfl_down_sync(~0u, x, distance);
    return x;
}

// Returns the sum of x over the threads of a block to its thread 0: one barrier, between the sums
// of the warps and the sum of these.
static __device__ long long sum_of_block(long long x)
{
    constexpr int warps = block_size / 32;
    __shared__ long long sums[warps];
    x = sum_of_warp(x);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x >= 32) return 0;
    return sum_of_warp(threadIdx.x < warps ? sums[threadIdx.x] : 0);
}

static __global__ void add_rows(const int *in, int n, rows_of r, long long *out)
{
    long long x = 0;
    for_each_of_mine<int4>(
        in, n, r, [&](int4 v) { x += static_cast<long long>(v.x) + v.y + v.z + v.w; },
        [&](int v) { x += v; });
    x = sum_of_block(x);
    if (threadIdx.x == 0) add_to(out, x);
}

void sum(const int *in, long long *out, int n)
{
    check(cudaMemsetAsync(out, 0, sizeof *out), "clearing the sum");
    if (n == 0) return;
    rows_of r(in, n);
    size_t useful = r.rows / (block_size / 32) + 1;
    int blocks = std::min<size_t>(resident_blocks(add_rows, block_size), useful);
    add_rows<<<blocks, block_size>>>(in, n, r, out);
    check_launch("add_rows");
}

// The counts of a block.
struct shared_bins {
    unsigned *counts;
    int bins;
    __device__ unsigned *bin(int b) const { return counts + b; }
    __device__ void clear() const
    {
        for (int b = threadIdx.x; b < bins; b += block_size) counts[b] = 0;
        __syncthreads();
    }
    // Calls add(b, count) for the bins that fall to this thread, when all have counted.
    template <class A> __device__ void add_up(A add) const
    {
        __syncthreads();
        for (int b = threadIdx.x; b < bins; b += block_size) add(b, counts[b]);
    }
};

static __device__ void count_bytes(const shared_bins &mine, unsigned word)
{
    for (int k = 0; k < 4; ++k) atomicAdd(mine.bin(word >> 8 * k & 255), 1);
}

static __device__ void count_row(const shared_bins &mine, uint4 v)
{
    for (unsigned word : {v.x, v.y, v.z, v.w}) count_bytes(mine, word);
}

static __global__ void count_rows(const unsigned char *in, size_t n, rows_of r, unsigned *bins)
{
    __shared__ unsigned counts[256];
    shared_bins mine{counts, 256};
    mine.clear();
    for_each_of_mine<uint4>(
        in, n, r, [&](uint4 v) { count_row(mine, v); },
        [&](unsigned char v) { atomicAdd(mine.bin(v), 1); });
    mine.add_up([&](int b, unsigned sum) {
        if (sum > 0) atomicAdd(&bins[b], sum);
    });
}

void histogram(const unsigned char *in, size_t n, unsigned *bins)
{
    check(cudaMemsetAsync(bins, 0, 256 * sizeof(unsigned)), "clearing the bins");
    if (n == 0) return;
    rows_of r(in, n);
    size_t useful = r.rows / (block_size / 32) + 1;
    int blocks = std::min<size_t>(resident_blocks(count_rows, block_size), useful);
    count_rows<<<blocks, block_size>>>(in, n, r, bins);
    check_launch("count_rows");
}

// A block counts a tile, or a share of its rows if there are few tiles. It loads all 16-byte pieces
// that contain a part of a row.
static __global__ void count_tiles(const unsigned char *image, int width, int height, int tile,
                                   int across, unsigned *bins)
{
    __shared__ unsigned counts[256];
    shared_bins mine{counts, 256};
    mine.clear();
    int left = blockIdx.x % across * tile, top = blockIdx.x / across * tile;
    int columns = min(tile, width - left), rows = min(tile, height - top);
    int first = (long long)rows * blockIdx.y / gridDim.y;
    int last = (long long)rows * (blockIdx.y + 1) / gridDim.y;
    int pieces = (columns + 30) / 16; // of a row, wherever it begins
    const unsigned char *end = image + size_t(width) * height;
    for (int i = threadIdx.x; i < (last - first) * pieces; i += block_size) {
        const unsigned char *row = image + size_t(top + first + i / pieces) * width + left;
        const unsigned char *piece = row - reinterpret_cast<uintptr_t>(row) % 16 + i % pieces * 16;
        int from = max(int(row - piece), 0), to = min(int(row + columns - piece), 16);
        if (piece < image || piece + 16 > end) { // partly outside the image
            for (int k = from; k < to; ++k) atomicAdd(mine.bin(piece[k]), 1);
            continue;
        }
        uint4 v = *reinterpret_cast<const uint4 *>(piece);
        const unsigned words[] = {v.x, v.y, v.z, v.w};
        for (int k = 0; k < 16; ++k)
            if (k >= from && k < to) atomicAdd(mine.bin(words[k / 4] >> k % 4 * 8 & 255), 1);
    }
    unsigned *of_tile = bins + size_t(blockIdx.x) * 256;
    mine.add_up([&](int b, unsigned sum) {
        if (gridDim.y == 1)
            of_tile[b] = sum;
        else if (sum > 0)
            atomicAdd(&of_tile[b], sum);
    });
}

void histogram_tiles(const unsigned char *image, int width, int height, int tile, unsigned *bins)
{
    if (width == 0 || height == 0) return;
    int across = (width - 1) / tile + 1, tiles = ((height - 1) / tile + 1) * across;
    int blocks_wanted = 16 * multiprocessors();
    int shares = std::clamp(blocks_wanted / tiles, 1, std::min(tile, height));
    if (shares > 1)
        check(cudaMemsetAsync(bins, 0, sizeof(unsigned) * 256 * tiles), "clearing the bins");
    count_tiles<<<dim3(tiles, shares), block_size>>>(image, width, height, tile, across, bins);
    check_launch("count_tiles");
}

struct range {
    float low, high, width;
    __device__ bool holds(float x) const { return x >= low && x < high; } // not so NaN
    __device__ int bin(float x) const
    {
        int b = (x - low) / width;
        return x < low + b * width ? b - 1 : b; // the difference was rounded up to the next bound
    }
};

constexpr int max_bins = 2048;

static __global__ void count_range(const float *in, int n, rows_of r, range all, int bin_count,
                                   unsigned *bins)
{
    __shared__ unsigned counts[max_bins];
    shared_bins mine{counts, bin_count};
    mine.clear();
    auto count = [&](float x) {
        if (all.holds(x)) atomicAdd(mine.bin(all.bin(x)), 1);
    };
    auto count_four = [&](float4 v) {
        for (float x : {v.x, v.y, v.z, v.w}) count(x);
    };
    for_each_of_mine<float4>(in, n, r, count_four, count);
    mine.add_up([&](int b, unsigned sum) {
        if (sum > 0) atomicAdd(&bins[b], sum);
    });
}

void histogram_range(const float *in, int n, float low, float high, int bin_count, unsigned *bins)
{
    check(cudaMemsetAsync(bins, 0, sizeof(unsigned) * bin_count), "clearing the bins");
    if (n == 0) return;
    rows_of r(in, n);
    size_t useful = r.rows / (block_size / 32) + 1;
    int blocks = std::min<size_t>(resident_blocks(count_range, block_size), useful);
    range all{low, high, (high - low) / bin_count};
    count_range<<<blocks, block_size>>>(in, n, r, all, bin_count, bins);
    check_launch("count_range");
}
