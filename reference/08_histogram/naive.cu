// Lab 08, the time to beat: what a careful beginner writes first. There is one thread per element,
// which adds it to the sum, or 1 to its bin, in global memory.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int blocks_for(size_t threads)
{
    return static_cast<int>((threads + block_size - 1) / block_size);
}

// The thread's number in the grid, which may have more than 2^32.
static __device__ size_t my_element() { return size_t(blockIdx.x) * block_size + threadIdx.x; }

static __global__ void add_each(const int *in, long long *out, int n)
{
    size_t i = my_element();
    // Both sums have the same bits, and only the unsigned one has an atomic.
    if (i < n)
        atomicAdd(reinterpret_cast<unsigned long long *>(out),
                  static_cast<unsigned long long>(in[i]));
}

void sum(const int *in, long long *out, int n)
{
    check(cudaMemsetAsync(out, 0, sizeof *out), "clearing the sum");
    if (n > 0) add_each<<<blocks_for(n), block_size>>>(in, out, n);
    check_launch("add_each");
}

static __global__ void count_bytes(const unsigned char *in, size_t n, unsigned *bins)
{
    size_t i = my_element();
    if (i < n) atomicAdd(&bins[in[i]], 1);
}

void histogram(const unsigned char *in, size_t n, unsigned *bins)
{
    check(cudaMemsetAsync(bins, 0, 256 * sizeof(unsigned)), "clearing the bins");
    if (n > 0) count_bytes<<<blocks_for(n), block_size>>>(in, n, bins);
    check_launch("count_bytes");
}

static __global__ void count_pixels(const unsigned char *image, int width, int height, int tile,
                                    int across, unsigned *bins)
{
    size_t i = my_element();
    if (i >= size_t(width) * height) return;
    int x = i % width, y = i / width;
    atomicAdd(&bins[size_t(y / tile * across + x / tile) * 256 + image[i]], 1);
}

void histogram_tiles(const unsigned char *image, int width, int height, int tile, unsigned *bins)
{
    size_t pixels = size_t(width) * height;
    if (pixels == 0) return;
    int across = (width - 1) / tile + 1, down = (height - 1) / tile + 1;
    check(cudaMemsetAsync(bins, 0, sizeof(unsigned) * 256 * across * down), "clearing the bins");
    count_pixels<<<blocks_for(pixels), block_size>>>(image, width, height, tile, across, bins);
    check_launch("count_pixels");
}

static __global__ void count_in_range(const float *in, int n, float low, float high, float width,
                                      unsigned *bins)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n || !(in[i] >= low && in[i] < high)) return;
    int b = (in[i] - low) / width;
    if (in[i] < low + b * width) --b; // the difference was rounded up to the next bound
    atomicAdd(&bins[b], 1);
}

void histogram_range(const float *in, int n, float low, float high, int bin_count, unsigned *bins)
{
    float width = (high - low) / bin_count;
    check(cudaMemsetAsync(bins, 0, sizeof(unsigned) * bin_count), "clearing the bins");
    if (n > 0) count_in_range<<<blocks_for(n), block_size>>>(in, n, low, high, width, bins);
    check_launch("count_in_range");
}
