// Right: Three host threads count a third each, on streams of their own that are joined by events;
// one column per lane through cuda::atomic_ref of block scope; tiles in a grid-stride loop by a
// fixed grid; errors are rethrown.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <future>

constexpr int threads = 256, parties = 3;
using block_count = cuda::atomic_ref<unsigned, cuda::thread_scope_block>;

class stream {
public:
    stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream"); }
    ~stream() { cudaStreamDestroy(stream_); }
    stream(const stream &) = delete;
    operator cudaStream_t() const { return stream_; }

private:
    cudaStream_t stream_;
};

// What `to` does from here on comes after what `from` has been given so far.
static void order(cudaStream_t from, cudaStream_t to)
{
    cudaEvent_t event;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "an event");
    cudaError_t error = cudaEventRecord(event, from);
    if (error == cudaSuccess) error = cudaStreamWaitEvent(to, event);
    cudaEventDestroy(event); // is given back when it is no longer needed
    check(error, "ordering streams");
}

// Calls launch(part, stream) in a thread of its own for each part, after the default stream's work.
template <class Launch> static void in_parallel(Launch launch)
{
    std::array<stream, parties> streams;
    std::array<std::future<void>, parties> parts;
    for (const auto &s : streams) order(nullptr, s);
    for (int p = 0; p < parties; ++p)
        parts[p] = std::async(std::launch::async, [&, p] {
            launch(p, streams[p]);
            check_launch("a part");
        });
    for (auto &part : parts) part.wait(); // all of them, before one may throw
    for (int p = 0; p < parties; ++p) {
        parts[p].get();
        order(streams[p], nullptr);
    }
}

static __global__ void __launch_bounds__(threads)
    count_bytes(const unsigned char *in, size_t n, unsigned *bins)
{
    __shared__ unsigned counts[256][32];
    for (int v = 0; v < 256; v += threads / 32) counts[v + threadIdx.x / 32][threadIdx.x % 32] = 0;
    __syncthreads();
    auto count = [lane = threadIdx.x % 32](unsigned value) {
        block_count(counts[value][lane]).fetch_add(1, cuda::memory_order_relaxed);
    };
    const size_t me = size_t(blockIdx.x) * threads + threadIdx.x, all = size_t(gridDim.x) * threads;
    // Words of 8 bytes; up to 7 bytes at both ends.
    const size_t head = min(n, size_t(-reinterpret_cast<std::uintptr_t>(in) & 7));
    const size_t wide = (n - head) / 8, tail = head + wide * 8;
    const auto *body = reinterpret_cast<const std::uint64_t *>(in + head);
    for (size_t i = me; i < wide; i += all)
        for (std::uint64_t x = body[i], k = 0; k < 8; ++k, x >>= 8) count(x & 255);
    if (me < head) count(in[me]);
    if (tail + me < n) count(in[tail + me]);
    __syncthreads();
    unsigned sum = 0;
    for (int c = 0; c < 32; ++c) sum += counts[threadIdx.x][(c + threadIdx.x) % 32];
    if (sum) atomicAdd(&bins[threadIdx.x], sum);
}

static int multiprocessors()
{
    int sms = 0;
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "asking for the SMs");
    return sms;
}

void histogram(const unsigned char *in, size_t n, unsigned *bins)
{
    const size_t third = n / parties;
    const int most = 2 * multiprocessors();
    check(cudaMemsetAsync(bins, 0, 256 * sizeof *bins), "clearing the bins");
    if (n == 0) return;
    in_parallel([=](int part, cudaStream_t s) {
        const size_t size = part == parties - 1 ? n - part * third : third;
        const int blocks = std::clamp<size_t>(size / (threads * 64), 1, most);
        if (size > 0) count_bytes<<<blocks, threads, 0, s>>>(in + part * third, size, bins);
    });
}

static __global__ void __launch_bounds__(threads)
    count_tiles(const unsigned char *image, int width, int height, int tile, int across, int tiles,
                unsigned *bins)
{
    __shared__ cuda::std::array<unsigned, 256> copies[8];
    auto &mine = copies[threadIdx.x / 32];
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        for (auto &copy : copies) copy[threadIdx.x] = 0;
        __syncthreads();
        const int left = t % across * tile, top = t / across * tile;
        const int cols = min(tile, width - left), pixels = cols * min(tile, height - top);
        for (int i = threadIdx.x; i < pixels; i += threads) {
            const unsigned char value = image[(top + i / cols) * width + left + i % cols];
            block_count(mine[value]).fetch_add(1, cuda::memory_order_relaxed);
        }
        __syncthreads();
        unsigned sum = 0;
        for (auto &copy : copies) sum += copy[threadIdx.x];
        bins[t * 256 + threadIdx.x] = sum;
        // Whoever goes on clears only counts that he alone has read.
    }
}

void histogram_tiles(const unsigned char *image, int width, int height, int tile, unsigned *bins)
{
    if (width == 0 || height == 0) return;
    const int across = (width - 1) / tile + 1, tiles = across * ((height - 1) / tile + 1);
    count_tiles<<<std::min(tiles, 8 * multiprocessors()), threads>>>(image, width, height, tile,
                                                                     across, tiles, bins);
    check_launch("count_tiles");
}

static __global__ void __launch_bounds__(threads)
    count_range(const float *in, int n, float low, float high, float width, int bin_count,
                unsigned *bins)
{
    __shared__ unsigned counts[2048];
    for (int b = threadIdx.x; b < bin_count; b += threads) counts[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * threads + threadIdx.x; i < n; i += gridDim.x * threads) {
        const float x = in[i];
        if (!(x >= low && x < high)) continue;
        const int near = (x - low) / width, b = x < low + near * width ? near - 1 : near;
        block_count(counts[b]).fetch_add(1, cuda::memory_order_relaxed);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < bin_count; b += threads)
        if (counts[b]) atomicAdd(&bins[b], counts[b]);
}

void histogram_range(const float *in, int n, float low, float high, int bin_count, unsigned *bins)
{
    const float width = (high - low) / bin_count;
    const int most = 2 * multiprocessors();
    check(cudaMemsetAsync(bins, 0, bin_count * sizeof *bins), "clearing the bins");
    in_parallel([=](int part, cudaStream_t s) {
        const int begin = 1LL * n * part / parties, size = 1LL * n * (part + 1) / parties - begin;
        const int blocks = std::clamp(size / (threads * 32), 1, most);
        if (size > 0)
            count_range<<<blocks, threads, 0, s>>>(in + begin, size, low, high, width, bin_count,
                                                   bins);
    });
}

// The shares of a block meet in shared memory by an atomic of block scope, one lane per warp.
static __global__ void __launch_bounds__(threads) add_part(const int *in, int n, long long *out)
{
    __shared__ long long of_block;
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    long long mine = 0;
    for (int i = blockIdx.x * threads + threadIdx.x; i < n; i += gridDim.x * threads) mine += in[i];
    for (int up = 1; up < 32; up *= 2) {
        const long long below = __shfl_up_sync(~0u, mine, up); // an inclusive scan: lane 31 has all
        if (threadIdx.x % 32 >= up) mine += below;
    }
    if (threadIdx.x % 32 == 31)
        cuda::atomic_ref<long long, cuda::thread_scope_block>(of_block).fetch_add(
            mine, cuda::memory_order_relaxed);
    __syncthreads();
    if (threadIdx.x == 0)
        cuda::atomic_ref<long long, cuda::thread_scope_device>(*out).fetch_add(
            of_block, cuda::memory_order_relaxed);
}

void sum(const int *in, long long *out, int n)
{
    const int third = n / parties, most = 8 * multiprocessors();
    check(cudaMemsetAsync(out, 0, sizeof *out), "clearing the sum");
    if (n == 0) return;
    in_parallel([=](int part, cudaStream_t s) {
        const int size = part == parties - 1 ? n - part * third : third;
        const int blocks = std::clamp(size / (threads * 8), 1, most);
        if (size > 0) add_part<<<blocks, threads, 0, s>>>(in + part * third, size, out);
    });
}
