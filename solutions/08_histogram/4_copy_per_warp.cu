// Lab 08, rung 4: one copy of the counts per warp, so that warps do not collide.
//
// New: copies_of, in place of rung 3's one copy; the copies are added up when all have counted.
// Lanes of one warp still collide, in a count or in a bank.
// Same points: warps that collide are separate requests; only the clock sees them wait.
// Unchanged: sum, histogram_tiles, histogram_range.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

constexpr int row_bytes = 512; // one load of a warp: 16 bytes per lane
constexpr int block_size = 256, warps_per_block = block_size / 32;

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

// The counts of a block: `copies` copies, one after the other. A warp adds to its own copy, or, if
// there are fewer, to one that it shares with others.
struct copies_of {
    unsigned *counts;
    int bins, copies;
    __device__ unsigned *bin(int b) const { return counts + threadIdx.x / 32 % copies * bins + b; }
    __device__ void clear() const
    {
        for (int i = threadIdx.x; i < bins * copies; i += block_size) counts[i] = 0;
        __syncthreads();
    }
    // Calls add(b, count) for the bins that fall to this thread, when all have counted.
    template <class A> __device__ void add_up(A add) const
    {
        __syncthreads();
        for (int b = threadIdx.x; b < bins; b += block_size) {
            unsigned sum = 0;
            for (int k = 0; k < copies; ++k) sum += counts[k * bins + b];
            add(b, sum);
        }
    }
};

static __device__ void count_bytes(const copies_of &mine, unsigned word)
{
    for (int k = 0; k < 4; ++k) atomicAdd(mine.bin(word >> 8 * k & 255), 1);
}

static __device__ void count_row(const copies_of &mine, uint4 v)
{
    for (unsigned word : {v.x, v.y, v.z, v.w}) count_bytes(mine, word);
}

static __global__ void count_rows(const unsigned char *in, size_t n, rows_of r, unsigned *bins)
{
    __shared__ unsigned counts[256 * warps_per_block];
    copies_of mine{counts, 256, warps_per_block};
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
