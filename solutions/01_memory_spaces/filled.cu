// Lab 01: the stub with lines added and none changed. Right everywhere, and each variable where it
// belongs.
// Points: 40
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>

constexpr int block_size = 256;

static int pieces(size_t n, size_t of) { return static_cast<int>((n + of - 1) / of); }

void device_facts(device_facts_t *out_host)
{
    [[maybe_unused]] cudaDeviceProp device{};
    check(cudaGetDeviceCount(&out_host->devices), "cudaGetDeviceCount");
    int current = 0;
    check(cudaGetDevice(&current), "cudaGetDevice");
    check(cudaGetDeviceProperties(&device, current), "cudaGetDeviceProperties");
    std::copy(device.name, device.name + sizeof device.name, out_host->name);
    out_host->multiprocessors = device.multiProcessorCount;
    out_host->threads_a_block = device.maxThreadsPerBlock;
    out_host->shared_a_block = device.sharedMemPerBlock;
    out_host->constant_memory = device.totalConstMem;
    out_host->l2 = device.l2CacheSize;
    out_host->warp_size = device.warpSize;
    out_host->copy_engines = device.asyncEngineCount;
}

// In device memory as long as the program runs; every kernel of this file can
// use it by its name, and the host by the calls that take a symbol.
[[maybe_unused]] static __device__ float in_global;

static __global__ void add_one()
{
    // One thread runs this, so nobody else changes the variable meanwhile.
    in_global += 1;
}

void add_to_global(float start, float *out_host)
{
    check(cudaMemcpyToSymbol(in_global, &start, sizeof start), "cudaMemcpyToSymbol");
    add_one<<<1, 1>>>();
    check_launch("add_one");
    check(cudaMemcpyFromSymbol(out_host, in_global, sizeof *out_host), "cudaMemcpyFromSymbol");
}

// Constant memory: kernels only read it, the host sets it as any symbol.
[[maybe_unused]] static __constant__ float coefficients[most_coefficients];

static __global__ void evaluate(const float *x, float *y, int n, int degree)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    float sum = coefficients[degree];
    for (int k = degree - 1; k >= 0; --k) sum = sum * x[i] + coefficients[k];
    y[i] = sum;
}

void polynomial(const float *x, float *y, int n, const float *coefficients_host, int degree)
{
    if (n == 0) return;
    check(cudaMemcpyToSymbol(coefficients, coefficients_host, sizeof(float) * (degree + 1)),
          "cudaMemcpyToSymbol");
    evaluate<<<pieces(n, block_size), block_size>>>(x, y, n, degree);
    check_launch("evaluate");
}

[[maybe_unused]] static __device__ unsigned char next_state[256];

static __global__ void walk(const unsigned char *start, unsigned char *out, int n, int steps)
{
    __shared__ unsigned char table[256];
    table[threadIdx.x] = next_state[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    unsigned char state = start[i];
    for (int k = 0; k < steps; ++k) state = table[state];
    out[i] = state;
}

void follow(const unsigned char *start, const unsigned char *next_host, unsigned char *out, int n,
            int steps)
{
    if (n == 0) return;
    check(cudaMemcpyToSymbol(next_state, next_host, sizeof next_state), "cudaMemcpyToSymbol");
    walk<<<pieces(n, block_size), block_size>>>(start, out, n, steps);
    check_launch("walk");
}

// Sorts an array that lives in 16 registers.
[[maybe_unused]] static __device__ void sort_run([[maybe_unused]] float (&run)[run_length])
{
#pragma unroll
    for (int round = 0; round < run_length; ++round)
#pragma unroll
        for (int i = round % 2; i + 1 < run_length; i += 2) {
            float low = fminf(run[i], run[i + 1]), high = fmaxf(run[i], run[i + 1]);
            run[i] = low;
            run[i + 1] = high;
        }
}

// A thread a run.
static __global__ void sort_runs(const float *in, float *out, int n)
{
    int first = (blockIdx.x * block_size + threadIdx.x) * run_length;
    float run[run_length];
#pragma unroll
    for (int i = 0; i < run_length; ++i) run[i] = first + i < n ? in[first + i] : INFINITY;
    sort_run(run);
#pragma unroll
    for (int i = 0; i < run_length; ++i)
        if (first + i < n) out[first + i] = run[i];
}

void small_sort(const float *in, float *out, int n)
{
    if (n == 0) return;
    sort_runs<<<pieces(n, block_size * run_length), block_size>>>(in, out, n);
    check_launch("sort_runs");
}

// A block a piece of `block` elements; a thread has up to four of them.
static __global__ void reverse_pieces(float *data, int n, int block)
{
    [[maybe_unused]] __shared__ float before[1024];
    int first = blockIdx.x * block, length = min(block, n - first);
    for (int i = threadIdx.x; i < length; i += block_size) before[i] = data[first + i];
    __syncthreads();
    for (int i = threadIdx.x; i < length; i += block_size) data[first + i] = before[length - 1 - i];
}

void reverse_blocks(float *data, int n, int block)
{
    if (n == 0) return;
    reverse_pieces<<<pieces(n, block), block_size>>>(data, n, block);
    check_launch("reverse_pieces");
}

constexpr int tile_size = 32;

// A block a tile of 32 x 32; its eight warps have four rows each.
static __global__ void transpose_tiles(const float *in, float *out, int rows, int cols,
                                       int tiles_across)
{
    // Where the tile begins in `in`, and this thread's place in the tile.
    [[maybe_unused]] int row = blockIdx.x / tiles_across * tile_size;
    [[maybe_unused]] int col = blockIdx.x % tiles_across * tile_size;
    [[maybe_unused]] int x = threadIdx.x % tile_size, y = threadIdx.x / tile_size;
    __shared__ float tile[tile_size][tile_size + 1];
    for (int k = y; k < tile_size; k += block_size / tile_size)
        if (row + k < rows && col + x < cols) tile[k][x] = in[(row + k) * cols + col + x];
    __syncthreads();
    for (int k = y; k < tile_size; k += block_size / tile_size)
        if (col + k < cols && row + x < rows) out[(col + k) * rows + row + x] = tile[x][k];
}

void transpose(const float *in, float *out, int rows, int cols)
{
    if (rows == 0 || cols == 0) return;
    int across = pieces(cols, tile_size);
    transpose_tiles<<<across * pieces(rows, tile_size), block_size>>>(in, out, rows, cols, across);
    check_launch("transpose_tiles");
}

static __global__ void sample(cudaTextureObject_t texture, const float2 *at, float *out, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) out[i] = tex2D<float>(texture, at[i].x + 0.5f, at[i].y + 0.5f);
}

void sample_bilinear(const unsigned char *image, int width, int height, const float2 *at,
                     float *out, int n)
{
    if (n == 0) return;
    cudaResourceDesc memory{};
    [[maybe_unused]] cudaTextureDesc how{};
    cudaTextureObject_t texture = 0;
    memory.resType = cudaResourceTypeArray;
    [[maybe_unused]] cudaArray_t &array = memory.res.array.array;
    [[maybe_unused]] cudaChannelFormatDesc texel = cudaCreateChannelDesc<unsigned char>();
    check(cudaMallocArray(&array, &texel, width, height), "cudaMallocArray");
    check(cudaMemcpy2DToArray(array, 0, 0, image, width, width, height, cudaMemcpyDeviceToDevice),
          "cudaMemcpy2DToArray");
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = cudaReadModeNormalizedFloat;
    check(cudaCreateTextureObject(&texture, &memory, &how, nullptr), "cudaCreateTextureObject");
    sample<<<pieces(n, block_size), block_size>>>(texture, at, out, n);
    check_launch("sample");
    check(cudaDeviceSynchronize(), "sample");
    check(cudaDestroyTextureObject(texture), "cudaDestroyTextureObject");
    check(cudaFreeArray(array), "cudaFreeArray");
}

float *acquire(size_t n)
{
    float *memory = nullptr;
    check(cudaMallocHost(&memory, sizeof(float) * n), "cudaMallocHost");
    return memory;
}

void upload(const float *src_host, float *dst, size_t n)
{
    check(cudaMemcpy(dst, src_host, sizeof(float) * n, cudaMemcpyHostToDevice), "cudaMemcpy");
}

void release(float *memory)
{
    // Whole: `memory` is what cudaMallocHost returned.
    check(cudaFreeHost(memory), "cudaFreeHost");
}

// Adds the threads' numbers up; *sum receives what the whole grid has.
[[maybe_unused]] static __device__ void add_to_sum(double of_thread, double *sum)
{
    __shared__ double of_block;
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    for (int lanes = 16; lanes > 0; lanes /= 2)
        of_thread += __shfl_down_sync(0xffffffff, of_thread, lanes);
    if (threadIdx.x % 32 == 0) atomicAdd(&of_block, of_thread);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(sum, of_block);
}

// The grid has fewer threads than there are values.
static __global__ void add_powers(const float *values, int n, int power, double *sum)
{
    double of_thread = 0;
    for (int i = blockIdx.x * block_size + threadIdx.x; i < n; i += gridDim.x * block_size) {
        double x = values[i], product = x;
        for (int k = 1; k < power; ++k) product *= x;
        of_thread += product;
    }
    add_to_sum(of_thread, sum);
}

// As many bytes as `mapped` has.
size_t sum_mapped_scratch(int n) { return sizeof(float) * n; }

void sum_mapped(const float *mapped, int n, int passes, double *out, void *scratch)
{
    const float *values = mapped;
    check(cudaMemsetAsync(out, 0, sizeof(double) * passes), "cudaMemsetAsync");
    if (n == 0) return;
    check(cudaMemcpyAsync(scratch, mapped, sizeof(float) * n, cudaMemcpyHostToDevice),
          "cudaMemcpyAsync");
    values = static_cast<const float *>(scratch);
    int blocks = pieces(n, block_size) < 1024 ? pieces(n, block_size) : 1024;
    for (int p = 0; p < passes; ++p) add_powers<<<blocks, block_size>>>(values, n, p + 1, out + p);
    check_launch("add_powers");
}

static __global__ void scale(float *managed, int n, float factor)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) managed[i] *= factor;
}

void scale_managed(float *managed, int n, float factor, int rounds)
{
    if (n == 0) return;
    [[maybe_unused]] cudaMemLocation here{};
    here.type = cudaMemLocationTypeDevice;
    check(cudaGetDevice(&here.id), "cudaGetDevice");
    check(cudaMemPrefetchAsync(managed, sizeof(float) * n, here, 0), "cudaMemPrefetchAsync");
    for (int k = 0; k < rounds; ++k)
        scale<<<pieces(n, block_size), block_size>>>(managed, n, factor);
    check_launch("scale");
}
