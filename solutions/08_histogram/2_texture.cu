// Lab 08, rung 2: `sum` adds up a warp by shuffles, and histogram_tiles reads through a texture.
//
// New: sum_of_warp and sum_of_block, one barrier in place of the tree's nine (Luitjens 2014). And
// the textbook's way to read an image: `fetched`, a texture on the image, in place of a pointer to
// it. A texture on plain memory begins at a multiple of 512 bytes, so there is a distance to the
// first pixel; and it has at most 2^27 elements, so a large image takes several, one after the
// other. The next rung does without it: a fetch returns one pixel per lane as a load does, through
// the same cache.
// Unchanged: histogram, histogram_range.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

constexpr int block_size = 256;

// CUDA adds 64 bits atomically for unsigned numbers only; the bits of the sum are the same.
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

static __global__ void add_by_warps(const int *in, long long *out, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    long long x = sum_of_block(i < n ? in[i] : 0);
    if (threadIdx.x == 0) add_to(out, x);
}

void sum(const int *in, long long *out, int n)
{
    check(cudaMemsetAsync(out, 0, sizeof *out), "clearing the sum");
    if (n > 0) add_by_warps<<<(n + block_size - 1) / block_size, block_size>>>(in, out, n);
    check_launch("add_by_warps");
}

static __device__ void clear(unsigned *counts, int bins)
{
    for (int b = threadIdx.x; b < bins; b += block_size) counts[b] = 0;
    __syncthreads();
}

static __device__ void add_up(const unsigned *counts, int bin_count, unsigned *bins)
{
    __syncthreads();
    for (int b = threadIdx.x; b < bin_count; b += block_size)
        if (counts[b] > 0) atomicAdd(&bins[b], counts[b]);
}

// A part of an image as kernels see it.
struct fetched {
    cudaTextureObject_t texture;
    int before; // bytes of the texture that lie before its first pixel
    __device__ unsigned char operator[](int i) const
    {
        return tex1Dfetch<unsigned char>(texture, before + i);
    }
};

// Calls launch(f, first, count) for parts of an image of n pixels, one after the other.
template <class L> static void with_texture(const unsigned char *image, size_t n, L launch)
{
    constexpr size_t alignment = 512, max_pixels = (size_t(1) << 27) - alignment;
    for (size_t first = 0; first < n; first += max_pixels) {
        size_t count = std::min(n - first, max_pixels);
        auto address = reinterpret_cast<uintptr_t>(image + first);
        size_t before = address % alignment;
        cudaResourceDesc memory{};
        memory.resType = cudaResourceTypeLinear;
        memory.res.linear.devPtr = reinterpret_cast<void *>(address - before);
        memory.res.linear.desc = cudaCreateChannelDesc<unsigned char>();
        memory.res.linear.sizeInBytes = before + count;
        cudaTextureDesc how{};
        fetched f{0, int(before)};
        check(cudaCreateTextureObject(&f.texture, &memory, &how, nullptr), "making a texture");
        launch(f, first, count);
        check_launch("counting");
        check(cudaDeviceSynchronize(), "counting"); // the texture is in use until then
        check(cudaDestroyTextureObject(f.texture), "giving a texture back");
    }
}

// One block per tile. The texture has `count` pixels from pixel `first` on; those of them in the
// tile are added to the tile's bins.
static __global__ void count_tiles(fetched image, size_t first, size_t count, int width, int height,
                                   int tile, int across, int first_tile, unsigned *bins)
{
    __shared__ unsigned counts[256];
    clear(counts, 256);
    int number = first_tile + blockIdx.x;
    int left = number % across * tile, top = number / across * tile;
    int columns = min(tile, width - left), rows = min(tile, height - top);
    for (int i = threadIdx.x; i < columns * rows; i += block_size) {
        size_t pixel = size_t(top + i / columns) * width + left + i % columns - first;
        if (pixel < count) atomicAdd(&counts[image[pixel]], 1);
    }
    add_up(counts, 256, bins + size_t(number) * 256);
}

void histogram_tiles(const unsigned char *image, int width, int height, int tile, unsigned *bins)
{
    if (width == 0 || height == 0) return;
    int across = (width - 1) / tile + 1, tiles = ((height - 1) / tile + 1) * across;
    check(cudaMemsetAsync(bins, 0, sizeof(unsigned) * 256 * tiles), "clearing the bins");
    with_texture(image, size_t(width) * height, [&](fetched f, size_t first, size_t count) {
        int from = first / width / tile * across,
            to = ((first + count - 1) / width / tile + 1) * across;
        count_tiles<<<to - from, block_size>>>(f, first, count, width, height, tile, across, from,
                                               bins);
    });
}
