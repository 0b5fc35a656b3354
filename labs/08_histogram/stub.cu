// Lab 08, histogram: the file to edit. What each function must do: lab.hpp. The
// lesson: handouts/08_histogram.md. Stuck at a TODO: ./workbook hint 08.
//
// The launches are yours to write. Go in the order of the TODOs, and change the
// kernels and their parameters wherever your idea needs it.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

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
    i += threads;
    // TODO 4 (sum: speed): x is the sum of that element and of all further ones
    // at steps of `threads`. i is the first of these.
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
    if (place < count) shares[place] = x;
    // TODO 2 (sum: few atomics): In thread 0 x is the sum of all `count`
    // shares, in all others 0.
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
    // TODO 1 (sum): `*out`, whose contents are undefined, is 0 before any block
    // adds to it. add_up runs with a thread for each element, if there are any.
    //
    // TODO 4 (sum: speed): add_up runs with no more blocks than the device runs
    // at a time.
    check_launch("add_up");
}

static __global__ void count_bytes(const unsigned char *in, size_t n, unsigned *bins)
{
    unsigned *counts = bins;
    // TODO 6 (histogram: speed, uniform): `counts` are 256 numbers of the
    // block's own, in shared memory, all of them 0 before any thread counts.

    // TODO 5 (histogram): Each element is counted once in `counts`. Several
    // threads may add to one number at the same time, and n may need more than
    // 32 bits.

    // TODO 6 (histogram: speed, uniform): When all threads of the block have
    // counted, its counts are added to `bins`.
}

void histogram(const unsigned char *in, size_t n, unsigned *bins)
{
    // TODO 5 (histogram): `bins` are 0 before any block adds to them.
    // count_bytes runs with blocks_for(n) blocks, if that is not 0.
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
    //
    // TODO 9 (histogram_tiles): The tile's 256 bins say how often each value
    // occurs in it. They are this block's alone, so nothing is added to them.
}

void histogram_tiles(const unsigned char *image, int width, int height, int tile, unsigned *bins)
{
    if (width == 0 || height == 0) return;
    int across = (width - 1) / tile + 1, down = (height - 1) / tile + 1;
    // TODO 9 (histogram_tiles): count_tiles runs with one block for each tile.
    check_launch("count_tiles");
}

void histogram_range(const float *in, int n, float low, float high, int bin_count, unsigned *bins)
{
    // TODO 10 (histogram_range): Your own design. Numbers outside the range are
    // not counted. x - low may be rounded up to the next bound; low + b * width
    // is exact.
}
