// Lab 08, histogram: the file to edit. What each function must do: lab.hpp. The
// lesson: handouts/08_histogram.md. Stuck at a TODO: ./workbook hint 08.
//
// The launches below are in place. Those of the histograms have a few blocks for
// each multiprocessor, so that a block has many elements, counts them in shared
// memory, and adds its counts to the bins once. Change kernels and launches
// where your idea needs it.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;
constexpr int blocks_per_sm = 8;

// As many blocks as the device runs at a time, but no more than needed for one
// element per thread.
static int blocks_for(size_t elements)
{
    int sms = 0;
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "asking for the SMs");
    return min(size_t(sms * blocks_per_sm), (elements + block_size - 1) / block_size);
}

// Adds to *out atomically. CUDA has an atomic addition of 64 bits for unsigned
// numbers only; the bits of the sum are the same.
static __device__ void add_to(long long *out, long long x)
{
    atomicAdd(reinterpret_cast<unsigned long long *>(out), static_cast<unsigned long long>(x));
}

// Returns thread i's share of the sum; the grid has `threads` threads.
static __device__ long long share_of_thread(const int *in, int n, int i, int threads)
{
    long long x = 0;
    // TODO 1 (sum): x is element i. Threads of the last block may have no
    // element.
    i += threads;
    // TODO 4 (sum: speed): A grid may have fewer threads than `in` has
    // elements: x is the sum of this thread's first element and of all further
    // ones at steps of `threads`. i is the second.
    return x;
}

// Adds up the shares of a block's threads. A thread whose share has been added
// elsewhere keeps 0, so that the sum of all shares stays the same. `shares`:
// block_size of them, in shared memory.
static __device__ long long share_in_block(long long x, long long *shares)
{
    int count = block_size, place = threadIdx.x;
    // TODO 3 (sum: few barriers): In lane 0 x is the sum of its warp, without
    // shared memory. Only these go into `shares`: count is how many, and place
    // the index of each; a thread whose place is count has none.
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
    // TODO 1 (sum): Blocks add to `*out`, whose contents are undefined: set it
    // to 0 before the launch, with cudaMemsetAsync.
    int blocks = (n + block_size - 1) / block_size;
    // TODO 4 (sum: speed): There must be no more blocks than the device runs at
    // a time.
    if (n > 0) add_up<<<blocks, block_size>>>(in, out, n);
    check_launch("add_up");
}

// TODO 12 (histogram: speed, uniform): When everything passes: load 16 bytes at
// a time where `in` allows it, and lay out the counts so that the lanes of a
// warp cannot collide, whatever they count.
static __global__ void count_bytes(const unsigned char *in, size_t n, unsigned *bins)
{
    // TODO 5 (histogram): Give the block 256 counts in shared memory. They are
    // uninitialised: let the threads set all of them to 0, and let no thread
    // count before that is done.
    //
    // TODO 6 (histogram): Count in a grid-stride loop: the grid has fewer
    // threads than `in` has elements, so each thread strides on by the number
    // of threads; n may need more than 32 bits. Several threads may add to one
    // count at the same time: atomicAdd.
    //
    // TODO 7 (histogram): When all threads of the block have counted, add the
    // block's counts to `bins`. Other blocks do so as well.
}

void histogram(const unsigned char *in, size_t n, unsigned *bins)
{
    // TODO 8 (histogram): The blocks will add to `bins`, whose contents are
    // undefined: set them to 0 before the launch, with cudaMemsetAsync.
    if (n > 0) count_bytes<<<blocks_for(n), block_size>>>(in, n, bins);
    check_launch("count_bytes");
}

// One block per tile; `across` tiles stand side by side.
static __global__ void count_tiles(const unsigned char *image, int width, int height, int tile,
                                   int across, unsigned *bins)
{
    // TODO 9 (histogram_tiles): Where does tile blockIdx.x begin, and how many
    // columns and rows does it have? At the right and the bottom edge there may
    // be fewer than `tile`.
    //
    // TODO 10 (histogram_tiles): Clear the counts as in TODO 5, divide the
    // pixels of the tile among the threads of the block, and count. Then write
    // the tile's 256 bins: they are this block's alone, so nothing is added.
}

void histogram_tiles(const unsigned char *image, int width, int height, int tile, unsigned *bins)
{
    if (width == 0 || height == 0) return;
    int across = (width - 1) / tile + 1, down = (height - 1) / tile + 1;
    count_tiles<<<across * down, block_size>>>(image, width, height, tile, across, bins);
    check_launch("count_tiles");
}

static __global__ void count_range(const float *in, int n, float low, float high, float width,
                                   int bin_count, unsigned *bins)
{
    // TODO 11 (histogram_range): The same with 2048 counts, the most that
    // lab.hpp allows; set `bins` to 0 below as in TODO 8. Two things are
    // new: which numbers count, and in which bin? The difference x - low is
    // rounded to a float, maybe up to the next bound; low + b * width is exact.
}

void histogram_range(const float *in, int n, float low, float high, int bin_count, unsigned *bins)
{
    float width = (high - low) / bin_count;
    if (n > 0) count_range<<<blocks_for(n), block_size>>>(in, n, low, high, width, bin_count, bins);
    check_launch("count_range");
}
