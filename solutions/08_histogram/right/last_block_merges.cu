// Right: Each block leaves its bins in static device scratch that grows, and the last one to finish
// adds them all up (threadFenceReduction): bins are stored once, by nobody else, and never cleared;
// 2-D blocks of 32 x 12.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>

constexpr int lanes = 32, warps = 12, threads = lanes * warps;
constexpr dim3 block(lanes, warps);

// The counts of all blocks, one after the other. Calls follow each other in the default stream.
static unsigned *parts_of(int blocks, int bin_count)
{
    static unsigned *parts = nullptr;
    static size_t size = 0;
    const size_t needed = sizeof(unsigned) * blocks * bin_count;
    if (needed > size) {
        check(cudaFree(parts), "cudaFree");
        parts = nullptr;
        size = 0;
        check(cudaMalloc(&parts, needed), "cudaMalloc");
        size = needed;
    }
    return parts;
}

static int blocks_for(size_t elements, int a_block)
{
    static const int most = [] {
        int sms = 0;
        check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "SMs");
        return 4 * sms;
    }();
    return std::clamp<size_t>(elements / a_block, 1, most);
}

static __device__ unsigned finished; // wraps round to 0 by itself

static __device__ int rank() { return threadIdx.y * lanes + threadIdx.x; }

// To be called by all threads when they have stored their block's part. True in the last block.
static __device__ bool is_last_block()
{
    __shared__ bool last;
    __threadfence(); // my stores before my block's number
    __syncthreads();
    if (rank() == 0) last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    __threadfence(); // and the others' before my loads
    return last;
}

static __device__ void add_parts(const unsigned *parts, int bin_count, unsigned *bins)
{
    for (int b = rank(); b < bin_count; b += threads) {
        unsigned sum = 0;
        for (int k = 0; k < gridDim.x; ++k) sum += __ldcg(parts + k * bin_count + b);
        bins[b] = sum;
    }
}

static __global__ void count_bytes(const unsigned char *in, size_t n, unsigned *parts,
                                   unsigned *bins)
{
    __shared__ unsigned counts[256][lanes]; // one column per lane
    for (int i = rank(); i < 256 * lanes; i += threads) counts[i / lanes][i % lanes] = 0;
    __syncthreads();
    auto count = [&](unsigned value) { atomicAdd(&counts[value][threadIdx.x], 1); };
    const size_t ahead = -reinterpret_cast<std::uintptr_t>(in) % 16, head = min(n, ahead);
    const size_t wide = (n - head) / 16, all = size_t(gridDim.x) * threads;
    const size_t me = size_t(blockIdx.x) * threads + rank();
    if (me < head) count(in[me]);
    for (size_t i = me; i < wide; i += all) {
        const uint4 x = reinterpret_cast<const uint4 *>(in + head)[i];
        const unsigned words[] = {x.x, x.y, x.z, x.w};
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            unsigned value;
            asm("bfe.u32 %0, %1, %2, 8;" : "=r"(value) : "r"(words[k / 4]), "r"(k % 4 * 8));
            count(value);
        }
    }
    if (const size_t i = head + wide * 16 + me; i < n) count(in[i]);
    __syncthreads();
    for (int v = threadIdx.y; v < 256; v += warps) {
        const unsigned sum = __reduce_add_sync(~0u, counts[v][threadIdx.x]);
        if (threadIdx.x == 0) parts[blockIdx.x * 256 + v] = sum;
    }
    if (is_last_block()) {
        if (rank() == 0) printf("block %u was the last of %u\n", blockIdx.x, gridDim.x);
        add_parts(parts, 256, bins);
    }
}

void histogram(const unsigned char *in, size_t n, unsigned *bins)
{
    const int blocks = blocks_for(n, 64 * threads);
    count_bytes<<<blocks, block>>>(in, n, parts_of(blocks, 256), bins);
    check_launch("count_bytes");
}

// Here a block is alone with its tile, and nothing is left to merge.
static __global__ void count_tiles(const unsigned char *image, int width, int height, int tile,
                                   unsigned *bins)
{
    __shared__ unsigned counts[4][256]; // three warps share a copy
    for (int i = rank(); i < 4 * 256; i += threads) counts[0][i] = 0;
    __syncthreads();
    const int across = (width - 1) / tile + 1, row_of_tiles = blockIdx.x / across;
    const int left = blockIdx.x % across * tile, right = min(left + tile, width);
    for (int y = threadIdx.y; y < tile; y += warps) {
        const int row = row_of_tiles * tile + y;
        if (row >= height) break;
        for (int c = left + threadIdx.x; c < right; c += lanes)
            atomicAdd(&counts[threadIdx.y % 4][image[row * width + c]], 1);
    }
    __syncthreads();
    bins += blockIdx.x * 256;
    for (int v = rank(); v < 256; v += threads)
        bins[v] = counts[0][v] + counts[1][v] + counts[2][v] + counts[3][v];
}

void histogram_tiles(const unsigned char *image, int width, int height, int tile, unsigned *bins)
{
    if (width == 0 || height == 0) return;
    // A one-dimensional grid: tiles may be more in a column than the 65535 of a grid's y.
    const int tiles = ((width - 1) / tile + 1) * ((height - 1) / tile + 1);
    count_tiles<<<tiles, block>>>(image, width, height, tile, bins);
    check_launch("count_tiles");
}

static __global__ void count_range(const float *in, int n, float low, float high, float width,
                                   int bin_count, unsigned *parts, unsigned *bins)
{
    extern __shared__ unsigned counts[];
    for (int b = rank(); b < bin_count; b += threads) counts[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * threads + rank(); i < n; i += gridDim.x * threads) {
        const float x = in[i];
        if (!(x >= low) || !(x < high)) continue;
        int b = (x - low) / width;
        if (low + b * width > x) --b; // rounded up to the next bound
        atomicAdd(counts + b, 1u);
    }
    __syncthreads();
    for (int b = rank(); b < bin_count; b += threads) parts[blockIdx.x * bin_count + b] = counts[b];
    if (is_last_block()) add_parts(parts, bin_count, bins);
}

void histogram_range(const float *in, int n, float low, float high, int bin_count, unsigned *bins)
{
    const int blocks = blocks_for(n, 32 * threads);
    count_range<<<blocks, block, sizeof(unsigned) * bin_count>>>(
        in, n, low, high, (high - low) / bin_count, bin_count, parts_of(blocks, bin_count), bins);
    check_launch("count_range");
}

static __device__ long long of_blocks[1024];

// The warps' sums by a tree over shuffles, the blocks' by the last block to finish: no atomic ever
// adds, and *out is stored once.
static __global__ void add_blocks(const int *in, int n, long long *out)
{
    __shared__ long long of_warps[warps];
    auto sum_of_block = [&](long long x) {
        for (int d = lanes / 2; d > 0; d /= 2) x += __shfl_down_sync(~0u, x, d);
        if (threadIdx.x == 0) of_warps[threadIdx.y] = x;
        __syncthreads();
        x = 0;
        for (int w = 0; w < warps; ++w) x += of_warps[w];
        return x;
    };
    long long x = 0;
    for (int i = blockIdx.x * threads + rank(); i < n; i += gridDim.x * threads) x += in[i];
    x = sum_of_block(x);
    if (rank() == 0) of_blocks[blockIdx.x] = x;
    if (!is_last_block()) return;
    x = 0;
    for (int k = rank(); k < gridDim.x; k += threads) x += __ldcg(of_blocks + k);
    x = sum_of_block(x);
    if (rank() == 0) *out = x;
}

void sum(const int *in, long long *out, int n)
{
    const int blocks = std::min(blocks_for(n, 8 * threads), 1024);
    add_blocks<<<blocks, block>>>(in, n, out);
    check_launch("add_blocks");
}
