// Lab 08, histogram: the file to edit. What each function must do: lab.hpp.
// The lesson: handouts/08_histogram.md. Stuck at a TODO: hints.md.
//
// The launches below are in place: a few blocks for each multiprocessor, so
// that a block has many elements, counts them in shared memory, and adds its
// counts to the bins once. Change kernels and launches where your idea needs
// it.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;
constexpr int blocks_an_sm = 8;

// As many blocks as the device runs at a time, and no more than `elements` give
// work to.
static int blocks_for(size_t elements)
{
    int sms = 0;
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "asking for the SMs");
    return min(size_t(sms * blocks_an_sm), (elements + block_size - 1) / block_size);
}

static __global__ void count_bytes(const unsigned char *in, size_t n, unsigned *bins)
{
    // TODO 1 (histogram): Give the block 256 counts in shared memory. It holds
    // anything: let the threads set all counts to 0, and let nobody count
    // before that is done.
    //
    // TODO 2 (histogram): Count. The grid has fewer threads than `in` has
    // elements: each thread goes on from its element by as many as the grid has
    // threads, as long as there are any; n may need more than 32 bits. Several
    // threads may add to one count at the same time: atomicAdd.
    //
    // TODO 3 (histogram): When all threads of the block have counted, add the
    // block's counts to `bins`. Other blocks do so as well.
    //
    // TODO 8 (histogram: speed, uniform): When everything passes: load 16 bytes
    // at a time where `in` allows it, and lay the counts out so that the lanes
    // of a warp cannot meet, whatever they count.
}

void histogram(const unsigned char *in, size_t n, unsigned *bins)
{
    // TODO 4 (histogram): The blocks will add to `bins`, which hold anything:
    // set them to 0 before the launch. cudaMemsetAsync does.
    if (n > 0) count_bytes<<<blocks_for(n), block_size>>>(in, n, bins);
    check_launch("count_bytes");
}

// A block a tile; `across` tiles stand side by side.
static __global__ void count_tiles(const unsigned char *image, int width, int height, int tile,
                                   int across, unsigned *bins)
{
    // TODO 5 (histogram_tiles): Where does tile blockIdx.x begin, and how many
    // columns and rows has it? At the right and the bottom edge it may be less
    // than tile.
    //
    // TODO 6 (histogram_tiles): Clear the counts as in TODO 1, share out the
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
    // TODO 7 (histogram_range): The same once more with 2048 counts, the most
    // that lab.hpp allows; set `bins` to 0 below as in TODO 4. Two things are
    // new: which numbers count, and in which bin? The difference x - low is
    // rounded to a float, maybe up to the next bound; low + b * width is exact.
}

void histogram_range(const float *in, int n, float low, float high, int bin_count, unsigned *bins)
{
    float width = (high - low) / bin_count;
    if (n > 0) count_range<<<blocks_for(n), block_size>>>(in, n, low, high, width, bin_count, bins);
    check_launch("count_range");
}
