// Lab 08, rung 5: one column per lane. Lanes of a warp cannot collide, whatever they count.
//
// New: columns_of, in place of rung 4's copies_of: the 32 copies of a bin stand side by side, and a
// copy belongs to a lane instead of a warp. A row of 32 counters lies in the 32 banks of shared
// memory, so each lane has a bank of its own. Blocks have become larger, as all warps of a block
// share the 32 KiB.
// Unchanged: sum, histogram_tiles, histogram_range.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

constexpr int row_bytes = 512; // one load of a warp: 16 bytes per lane

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

// The counts of a block: each bin has `columns` counters side by side, and a lane adds to its own.
// With 32 columns no two lanes of a warp use the same bank, whatever they count.
struct columns_of {
    unsigned *counts;
    int columns;
    __device__ unsigned *bin(int b) const
    {
        return counts + b * columns + (threadIdx.x & (columns - 1));
    }
    __device__ void clear(int bins) const
    {
        for (int i = threadIdx.x; i < bins * columns; i += blockDim.x) counts[i] = 0;
        __syncthreads();
    }
    // Calls add(b, count) for the bins that fall to this thread, when all have counted.
    template <class A> __device__ void add_up(int bins, A add) const
    {
        __syncthreads();
        for (int b = threadIdx.x; b < bins; b += blockDim.x) {
            unsigned sum = 0;
            // Threads begin in different columns, or they would all use one bank.
#pragma unroll 4 // 32 at once would cost registers, and so threads
            for (int k = 0; k < columns; ++k)
                sum += counts[b * columns + ((k + threadIdx.x) & (columns - 1))];
            add(b, sum);
        }
    }
};

static __device__ void count_bytes(const columns_of &mine, unsigned word)
{
    for (int k = 0; k < 4; ++k) atomicAdd(mine.bin(word >> 8 * k & 255), 1);
}

static __device__ void count_row(const columns_of &mine, uint4 v)
{
    for (unsigned word : {v.x, v.y, v.z, v.w}) count_bytes(mine, word);
}

constexpr int block_size = 512;

static __global__ void count_rows(const unsigned char *in, size_t n, rows_of r, unsigned *bins)
{
    __shared__ unsigned counts[256 * 32];
    columns_of mine{counts, 32};
    mine.clear(256);
    for_each_of_mine<uint4>(
        in, n, r, [&](uint4 v) { count_row(mine, v); },
        [&](unsigned char v) { atomicAdd(mine.bin(v), 1); });
    mine.add_up(256, [&](int b, unsigned sum) {
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
