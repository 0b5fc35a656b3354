// Lab 08: the stub with lines of code added and none changed. It does the TODOs in the simplest
// way.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#ifndef DONE
#define DONE 11 // the TODOs that are done; `check --todos` sets it
#endif

constexpr int block_size = 256;
constexpr int blocks_per_sm = 8;

// Eight blocks per multiprocessor, but no more than needed for one element per
// thread.
static int blocks_for(size_t elements)
{
    int device = 0, sms = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device),
          "asking for the SMs");
    return min(size_t(sms * blocks_per_sm), (elements + block_size - 1) / block_size);
}

// Adds to *out atomically. Of the 64-bit integers atomicAdd takes only unsigned
// ones; the bits of the sum are the same.
static __device__ void add_to(long long *out, long long x)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(out), static_cast<unsigned long long>(x));
}

// Returns thread i's share of the sum; the grid has `threads` threads.
static __device__ long long share_of_thread(const int *in, int n, int i, int threads)
{
    long long x = 0;
    // TODO 1 (sum): x is element i, if there is one.
    if (i < n) x = in[i];
    i += threads;
    // TODO 4 (sum: speed): x is the sum of that element and of all further ones
    // at steps of `threads`. i is the first of these.
    for (; i < n; i += threads) x += in[i];
    return x;
}

// Adds up the shares of a block's threads. A thread whose share has been added
// elsewhere keeps 0, so that the sum of all shares stays the same. `shares` is
// shared memory for block_size of them.
static __device__ long long share_in_block(long long x, long long *shares)
{
    int count = block_size, place = threadIdx.x;
    // TODO 3 (sum: few barriers): In lane 0 x is its warp's sum, added up
    // without shared memory. `count` is how many of these sums there are, and
    // `place` is where lane 0 puts its own; in other lanes it is `count`.
    for (int distance = 16; distance > 0; distance /= 2) x += __shfl_down_sync(~0u, x, distance);
    count = block_size / 32;
    place = threadIdx.x % 32 == 0 ? threadIdx.x / 32 : count;
    if (place < count) shares[place] = x;
    // TODO 2 (sum: few atomics): In thread 0 x is the sum of all `count`
    // shares, in all others 0.
    __syncthreads();
    for (int half = count / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) shares[threadIdx.x] += shares[threadIdx.x + half];
        __syncthreads();
    }
    x = threadIdx.x == 0 ? shares[0] : 0;
    return x;
}

static __global__ void add_up(const int *in, long long *out, int n)
{
    __shared__ long long shares[block_size];
    int i = blockIdx.x * block_size + threadIdx.x, threads = gridDim.x * block_size;
    long long x = share_in_block(share_of_thread(in, n, i, threads), shares);
    if (x != 0) add_to(out, x);
}

void sum(const int *in, long long *out, int n)
{
    // TODO 4 (sum: speed): add_up runs with no more blocks than the device runs
    // at a time.
    //
    // TODO 1 (sum): `*out`, whose contents are undefined, is 0 before any block
    // adds to it. add_up runs with a thread for each element, if there are any.
    check(cudaMemsetAsync(out, 0, sizeof *out), "clearing the sum");
#if DONE < 4
    int blocks = (n + block_size - 1) / block_size;
#else
    int blocks = blocks_for(n);
#endif
    if (n > 0) add_up<<<blocks, block_size>>>(in, out, n);
    check_launch("add_up");
}

static __global__ void count_bytes(const unsigned char *in, size_t n, unsigned *bins)
{
    unsigned *counts = bins;
    // TODO 6 (histogram: speed, uniform): `counts` are 256 numbers of the
    // block's own, in shared memory, all of them 0 before any thread counts.
    constexpr int columns = DONE < 7 ? 1 : 32;
    __shared__ unsigned own[256 * columns];
    for (int c = threadIdx.x; c < 256 * columns; c += block_size) own[c] = 0;
    __syncthreads();
    counts = own;

    // TODO 5 (histogram): Each element is counted once in `counts`. Several
    // threads may add to one number at the same time, and n may need more than
    // 32 bits.
    size_t threads = size_t(gridDim.x) * block_size, me = blockIdx.x * block_size + threadIdx.x;
    auto count = [counts](unsigned byte) {
#if DONE < 7
        atomicAdd(&counts[byte], 1);
#else
        atomicAdd(&counts[byte * 32 + threadIdx.x % 32], 1); // the lane's own column
#endif
    };
#if DONE < 11
    for (size_t i = me; i < n; i += threads) count(in[i]);
#else
    size_t to_boundary = (16 - reinterpret_cast<size_t>(in) % 16) % 16;
    size_t head = n < to_boundary ? n : to_boundary, whole = (n - head) / 16;
    const uint4 *words = reinterpret_cast<const uint4 *>(in + head);
    for (size_t i = me; i < whole; i += threads) {
        uint4 w = words[i];
        for (unsigned word : {w.x, w.y, w.z, w.w})
            for (int k = 0; k < 4; ++k) count(word >> 8 * k & 255);
    }
    if (me < head) count(in[me]);
    if (me < n - head - 16 * whole) count(in[head + 16 * whole + me]);
#endif

    // TODO 6 (histogram: speed, uniform): When all threads of the block have
    // counted, its counts are added to `bins`.
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += block_size) {
        unsigned count = 0;
        for (int k = 0; k < columns; ++k) count += own[b * columns + (b + k) % columns];
        atomicAdd(&bins[b], count);
    }
}

void histogram(const unsigned char *in, size_t n, unsigned *bins)
{
    // TODO 5 (histogram): `bins` are 0 before any block adds to them.
    // count_bytes runs with blocks_for(n) blocks, if that is not 0.
    check(cudaMemsetAsync(bins, 0, 256 * sizeof(unsigned)), "clearing the bins");
    if (n > 0) count_bytes<<<blocks_for(n), block_size>>>(in, n, bins);
    check_launch("count_bytes");
}

// TODO 7 (histogram: speed, 90 % in one bin): In count_bytes on average at most
// two lanes of a warp add to one number at the same time, whatever they count.
// TODO 7 (histogram: speed, one bin): It is the same kernel.
// TODO 7 (histogram: speed, an image): It is the same kernel.
//
// TODO 11 (histogram: speed, uniform, timed): When everything else passes: each
// load of count_bytes brings 16 bytes, where `in` allows it, so that more of them
// are in flight. Only the clock sees that.

// A block counts a tile; `across` tiles stand side by side.
static __global__ void count_tiles(const unsigned char *image, int width, int height, int tile,
                                   int across, unsigned *bins)
{
    int left = 0, top = 0, columns = 0, rows = 0;
    // TODO 8 (histogram_tiles): Tile blockIdx.x begins in column `left` and row
    // `top` of the image. It has `columns` columns and `rows` rows, which may
    // be fewer than `tile` at the right and the bottom edge.
    left = blockIdx.x % across * tile, top = blockIdx.x / across * tile;
    columns = min(tile, width - left), rows = min(tile, height - top);

    // TODO 9 (histogram_tiles): The tile's 256 bins say how often each value
    // occurs in it. They are this block's alone, so nothing is added to them.
    __shared__ unsigned counts[256];
    for (int b = threadIdx.x; b < 256; b += block_size) counts[b] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < columns * rows; i += block_size)
        atomicAdd(&counts[image[size_t(top + i / columns) * width + left + i % columns]], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += block_size)
        bins[size_t(blockIdx.x) * 256 + b] = counts[b];
}

void histogram_tiles(const unsigned char *image, int width, int height, int tile, unsigned *bins)
{
    if (width == 0 || height == 0) return;
    int across = (width - 1) / tile + 1, down = (height - 1) / tile + 1;
    // TODO 9 (histogram_tiles): count_tiles runs with one block for each tile.
    count_tiles<<<across * down, block_size>>>(image, width, height, tile, across, bins);
    check_launch("count_tiles");
}

// TODO 10 (histogram_range): A kernel for it.
static __global__ void count_range(const float *in, int n, float low, float high, float width,
                                   int bin_count, unsigned *bins)
{
    __shared__ unsigned counts[2048];
    for (int b = threadIdx.x; b < bin_count; b += block_size) counts[b] = 0;
    __syncthreads();
    int threads = gridDim.x * block_size;
    for (int i = blockIdx.x * block_size + threadIdx.x; i < n; i += threads) {
        float x = in[i];
        if (!(x >= low && x < high)) continue;
        int b = (x - low) / width;
        if (x < low + b * width) --b;
        atomicAdd(&counts[b], 1);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < bin_count; b += block_size) atomicAdd(&bins[b], counts[b]);
}

void histogram_range(const float *in, int n, float low, float high, int bin_count, unsigned *bins)
{
    // TODO 10 (histogram_range): Your own design. Numbers outside the range are
    // not counted. x - low may be rounded up to the next bound; low + b * width
    // is exact.
    float width = (high - low) / bin_count;
    check(cudaMemsetAsync(bins, 0, sizeof(unsigned) * bin_count), "clearing the bins");
    if (n > 0) count_range<<<blocks_for(n), block_size>>>(in, n, low, high, width, bin_count, bins);
    check_launch("count_range");
}
