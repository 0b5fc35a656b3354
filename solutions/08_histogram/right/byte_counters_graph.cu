// Right: A byte counter for each thread and value, emptied before it can run over, so nobody needs
// an atomic to count; the whole call captured into a graph; the range by a binary search among the
// exact bounds.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

constexpr int threads = 128;
constexpr int loads_until_full = 255 / 16; // 16 values per load

// Four threads of a word are of four warps: lane l is in bank l, whatever it counts.
struct byte_counters {
    unsigned *words; // 256 rows of 32

    __device__ void clear() const
    {
        for (int i = threadIdx.x; i < 256 * 32; i += threads) words[i] = 0;
    }
    __device__ void count(unsigned value) const
    {
        auto *bytes = reinterpret_cast<unsigned char *>(words);
        ++bytes[value * 128 + threadIdx.x % 32 * 4 + threadIdx.x / 32];
    }
    // The sum of row v.
    __device__ unsigned sum(int v) const
    {
        unsigned sum = 0;
        for (int c = 0; c < 32; ++c) sum = __dp4a(words[v * 32 + (c + v) % 32], 0x01010101u, sum);
        return sum;
    }
};

extern __shared__ unsigned shared_words[];

// Calls next(k) for k = 0, 1, ... until it says that the block is done; each call counts at
// most 16.
template <class Next, class Add> static __device__ void count_all(Next next, Add add)
{
    const byte_counters counters{shared_words};
    unsigned sums[2] = {};
    for (bool more = true; more;) {
        counters.clear();
        __syncthreads();
        for (int k = 0; k < loads_until_full && more; ++k) more = next(counters);
        __syncthreads();
        for (int k = 0; k < 2; ++k) sums[k] += counters.sum(threadIdx.x + k * threads);
        __syncthreads();
    }
    for (int k = 0; k < 2; ++k) add(threadIdx.x + k * threads, sums[k]);
}

static __global__ void count_bytes(const unsigned char *in, size_t n, unsigned *bins)
{
    const size_t head = min(n, size_t(-reinterpret_cast<std::uintptr_t>(in) & 15));
    const size_t wide = (n - head) / 16, tail = head + wide * 16;
    size_t base = size_t(blockIdx.x) * threads; // of the block's next loads
    bool ends = blockIdx.x == 0;
    auto next = [&](byte_counters counters) {
        const size_t i = base + threadIdx.x;
        if (ends) {
            if (threadIdx.x < head) counters.count(in[threadIdx.x]);
            // Other threads than those of the head have one byte as well.
            if (tail + threadIdx.x < n) counters.count(in[tail + threadIdx.x]);
            ends = false;
            return base < wide;
        }
        if (i < wide) {
            const uint4 x = reinterpret_cast<const uint4 *>(in + head)[i];
            for (unsigned word : {x.x, x.y, x.z, x.w})
                for (int shift = 0; shift < 32; shift += 8) counters.count(word >> shift & 255);
        }
        base += size_t(gridDim.x) * threads;
        return base < wide;
    };
    count_all(next, [=](int v, unsigned sum) {
        if (sum) atomicAdd(bins + v, sum);
    });
}

static __global__ void count_tiles(const unsigned char *image, int width, int height, int tile,
                                   int across, unsigned *bins)
{
    const int left = blockIdx.x % across * tile, top = blockIdx.x / across * tile;
    const int cols = min(tile, width - left), rows = min(tile, height - top), pixels = cols * rows;
    int base = 0;
    auto next = [&](byte_counters counters) {
        for (int k = 0; k < 16; ++k, base += threads)
            if (int i = base + threadIdx.x; i < pixels)
                counters.count(image[(top + i / cols) * width + left + i % cols]);
        return base < pixels;
    };
    count_all(next, [=](int v, unsigned sum) { bins[blockIdx.x * 256 + v] = sum; });
}

// Bound b is low + b * width, exactly; bin b begins there.
static __global__ void count_range(const float *in, int n, float low, float width, int bin_count,
                                   unsigned *bins)
{
    __shared__ unsigned counts[2048];
    for (int b = threadIdx.x; b < bin_count; b += blockDim.x) counts[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float x = in[i];
        if (!(x >= low && x < fmaf(bin_count, width, low))) continue;
        int first = 0, beyond = bin_count;
        while (beyond - first > 1) {
            const int middle = (first + beyond) / 2;
            (x < fmaf(middle, width, low) ? beyond : first) = middle;
        }
        atomicAdd(&counts[first], 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < bin_count; b += blockDim.x)
        if (counts[b] > 0) atomicAdd(bins + b, counts[b]);
}

// What `launch` puts into a stream, as a graph in the default stream.
template <class Launch> static void as_graph(Launch launch)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t work;
    check(cudaStreamCreate(&stream), "stream");
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    launch(stream);
    check(cudaStreamEndCapture(stream, &graph), "capture");
    check(cudaGraphInstantiate(&work, graph, 0), "instantiating");
    check(cudaGraphLaunch(work, nullptr), "launching");
    check(cudaGraphExecDestroy(work), "graph");
    check(cudaGraphDestroy(graph), "graph");
    check(cudaStreamDestroy(stream), "stream");
}

static int blocks_for(size_t elements, int a_thread)
{
    int sms = 0;
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "asking for the SMs");
    return std::min<size_t>(7 * sms, elements / (threads * a_thread) + 1);
}
constexpr int shared_bytes = 256 * 32 * 4;

void histogram(const unsigned char *in, size_t n, unsigned *bins)
{
    const int blocks = blocks_for(n, 64);
    as_graph([=](cudaStream_t stream) {
        check(cudaMemsetAsync(bins, 0, 256 * sizeof *bins, stream), "clearing the bins");
        if (n > 0) count_bytes<<<blocks, threads, shared_bytes, stream>>>(in, n, bins);
    });
}
void histogram_tiles(const unsigned char *image, int width, int height, int tile, unsigned *bins)
{
    if (width == 0 || height == 0) return;
    const int across = (width - 1) / tile + 1, down = (height - 1) / tile + 1;
    as_graph([=](cudaStream_t stream) {
        count_tiles<<<across * down, threads, shared_bytes, stream>>>(image, width, height, tile,
                                                                      across, bins);
    });
}
void histogram_range(const float *in, int n, float low, float high, int bin_count, unsigned *bins)
{
    const int blocks = blocks_for(n, 16);
    as_graph([=](cudaStream_t stream) {
        check(cudaMemsetAsync(bins, 0, bin_count * sizeof *bins, stream), "clearing the bins");
        if (n > 0)
            count_range<<<blocks, 2 * threads, 0, stream>>>(in, n, low, (high - low) / bin_count,
                                                            bin_count, bins);
    });
}

// Two kernels and no atomic: each block stores its sum, and one block adds these up. Columns of a
// warp's transpose go to shared memory, where one lane per row adds: no tree anywhere.
constexpr int max_parts = 256;
static __device__ long long part_sums[max_parts];

template <class T> static __device__ void add_to_one(const T *in, int n, long long *result)
{
    __shared__ long long shares[threads];
    __shared__ long long rows[4];
    long long x = 0;
    for (long long i = blockIdx.x * threads + threadIdx.x; i < n; i += gridDim.x * threads)
        x += in[i];
    shares[threadIdx.x] = x;
    __syncthreads();
    if (threadIdx.x < 4) {
        long long row = 0;
        for (int k = 0; k < threads / 4; ++k) row += shares[k * 4 + threadIdx.x];
        rows[threadIdx.x] = row;
    }
    __syncwarp();
    if (threadIdx.x == 0) *result = rows[0] + rows[1] + rows[2] + rows[3];
}

static __global__ void add_parts(const int *in, int n)
{
    add_to_one(in, n, part_sums + blockIdx.x);
}

static __global__ void add_part_sums(int parts, long long *out)
{
    add_to_one(part_sums, parts, out);
}

void sum(const int *in, long long *out, int n)
{
    const int parts = std::clamp(n / (16 * threads), 1, max_parts);
    add_parts<<<parts, threads>>>(in, n);
    add_part_sums<<<1, threads>>>(parts, out);
    check_launch("add_part_sums");
}
