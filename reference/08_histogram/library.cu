// Lab 08, the vendor's version: CUB's DeviceReduce and DeviceHistogram behind the contract.
#include "../check.hpp"
#include "lab.hpp"

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>

#include <cuda_runtime.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

// CUB needs memory, and the contract provides none; it is kept from call to call.
static void *memory_of(size_t bytes)
{
    static void *memory = nullptr;
    static size_t held = 0;
    if (bytes > held) {
        check(cudaFree(memory), "cudaFree");
        check(cudaMalloc(&memory, bytes), "cudaMalloc");
        held = bytes;
    }
    return memory;
}

struct widened {
    __device__ long long operator()(int x) const { return x; }
};

void sum(const int *in, long long *out, int n)
{
    auto values = thrust::make_transform_iterator(in, widened{});
    size_t bytes = 0;
    check(cub::DeviceReduce::Sum(nullptr, bytes, values, out, n), "asking for memory");
    check(cub::DeviceReduce::Sum(memory_of(bytes), bytes, values, out, n), "DeviceReduce::Sum");
}

// Whole numbers, one bin each: counts those of `samples` from 0 to bin_count - 1.
template <class I> static void count(I samples, unsigned *bins, int bin_count, long long n)
{
    size_t bytes = 0;
    void *memory = nullptr;
    for (int k = 0; k < 2; ++k) { // first, how much memory
        check(cub::DeviceHistogram::HistogramEven(memory, bytes, samples, bins, bin_count + 1, 0,
                                                  bin_count, n),
              "DeviceHistogram::HistogramEven");
        if (k == 0) memory = memory_of(bytes);
    }
}

void histogram(const unsigned char *in, size_t n, unsigned *bins)
{
    count(in, bins, 256, static_cast<long long>(n));
}

// A pixel and the tile it is in, as one number: (tile, value).
struct bin_of_pixel {
    const unsigned char *image;
    int width, tile, across;
    __device__ int operator()(long long i) const
    {
        int x = i % width, y = i / width;
        return (y / tile * across + x / tile) * 256 + image[i];
    }
};

void histogram_tiles(const unsigned char *image, int width, int height, int tile, unsigned *bins)
{
    if (width == 0 || height == 0) return;
    int across = (width - 1) / tile + 1, down = (height - 1) / tile + 1;
    auto samples = thrust::make_transform_iterator(thrust::make_counting_iterator(0LL),
                                                   bin_of_pixel{image, width, tile, across});
    count(samples, bins, across * down * 256, static_cast<long long>(width) * height);
}

// CUB's own bins for floats come from x - low, which is rounded.
struct bin_of_number {
    float low, high, width;
    __device__ int operator()(float x) const
    {
        if (!(x >= low && x < high)) return -1;
        int b = (x - low) / width;
        return x < low + b * width ? b - 1 : b;
    }
};

void histogram_range(const float *in, int n, float low, float high, int bin_count, unsigned *bins)
{
    bin_of_number bin_of{low, high, (high - low) / bin_count};
    count(thrust::make_transform_iterator(in, bin_of), bins, bin_count, n);
}
