// Lab 01, memory spaces: the file to edit. What each function must do: lab.hpp.
// The lesson: handouts/01_memory_spaces.md. Stuck at a TODO: hints.md.
//
// The launches below are in place and round their grids up, so that the last
// block has threads to spare. Change launches where your idea needs it.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256;

static int pieces(size_t n, size_t of) { return static_cast<int>((n + of - 1) / of); }

void device_facts(device_facts_t *out_host)
{
    [[maybe_unused]] cudaDeviceProp device{};
    // TODO 1 (device_facts): Let cudaGetDeviceCount and cudaGetDeviceProperties
    // (of the device that cudaGetDevice names) say what they know, and fill in
    // every member of *out_host.
}

// In device memory as long as the program runs; every kernel of this file can
// use it by its name, and the host by the calls that take a symbol.
[[maybe_unused]] static __device__ float in_global;

static __global__ void add_one()
{
    // TODO 2 (add_to_global): Add 1 to the variable.
}

void add_to_global(float start, float *out_host)
{
    // TODO 3 (add_to_global): Set the variable to `start`, with
    // cudaMemcpyToSymbol.
    add_one<<<1, 1>>>();
    check_launch("add_one");
    // TODO 4 (add_to_global): Read it back to *out_host.
}

// Constant memory: kernels only read it, the host sets it as any symbol.
[[maybe_unused]] static __constant__ float coefficients[most_coefficients];

static __global__ void evaluate(const float *x, float *y, int n, int degree)
{
    // TODO 5 (polynomial): Compute this thread's i, and y[i] if there is one:
    // begin with the last coefficient; multiply by x[i] and add the one before,
    // until all have had their turn.
}

void polynomial(const float *x, float *y, int n, const float *coefficients_host, int degree)
{
    if (n == 0) return;
    // TODO 6 (polynomial): Copy the coefficients to constant memory. How many
    // bytes are they?
    evaluate<<<pieces(n, block_size), block_size>>>(x, y, n, degree);
    check_launch("evaluate");
}

[[maybe_unused]] static __device__ unsigned char next_state[256];

static __global__ void walk(const unsigned char *start, unsigned char *out, int n, int steps)
{
    // TODO 7 (follow): Declare a table of 256 in shared memory; let thread t of
    // the block copy next_state[t] to it; let nobody read before all have
    // written. Then walk from start[i], and store where the walk ends.
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
    // TODO 8 (small_sort): Go over the run 16 times. In even rounds compare the
    // elements 0 and 1, 2 and 3, ..., in odd rounds 1 and 2, 3 and 4, ..., and
    // put the smaller of the two first, with fminf and fmaxf. Write
    // `#pragma unroll` before each loop: then every index is a constant.
}

// A thread a run.
static __global__ void sort_runs(const float *in, float *out, int n)
{
    // TODO 9 (small_sort): Load this thread's run into an array, INFINITY where
    // it lies beyond n; sort it; store what is not beyond n. Again all loops
    // have 16 turns and are unrolled: the test for n is inside.
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
    // TODO 10 (reverse_blocks): How long is this block's piece? The last one
    // may be shorter. Let the threads copy it to `before`; when all have, let
    // them write it back in the opposite order.
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
    // TODO 11 (transpose): Declare a tile in shared memory. Load rows y, y + 8,
    // ... of the tile, neighbours by neighbouring lanes, as far as `in` goes.
    // After a barrier store its columns y, y + 8, ... as rows of `out`, again
    // neighbours by neighbouring lanes. Then count banks: how long should a row
    // of the tile be?
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
    // TODO 12 (sample_bilinear): One tex2D<float> a thread. To the texture unit
    // the centre of the first texel is at 0.5.
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
    // TODO 13 (sample_bilinear): Make an array of width x height texels, and
    // copy the image to it, device to device. Say how the texture is to read:
    // clamped at both edges, filtered linearly, bytes as fractions of 255. Then
    // create the texture.
    sample<<<pieces(n, block_size), block_size>>>(texture, at, out, n);
    check_launch("sample");
    // TODO 14 (sample_bilinear: call after call): Wait until the kernel has
    // ended; then destroy the texture and free its array.
}

float *acquire(size_t n)
{
    float *memory = nullptr;
    // TODO 15 (upload): Allocate n floats of host memory that the device can
    // copy from by itself.
    return memory;
}

void upload(const float *src_host, float *dst, size_t n)
{
    // TODO 16 (upload): Copy.
}

void release(float *memory)
{
    // TODO 17 (upload): Give back what acquire allocated.
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
    // TODO 18 (sum_mapped): Go from this thread's first value on by as many as
    // the grid has threads, and add up each value to the power, as double. Then
    // let *all* threads of the block call add_to_sum.
}

// As many bytes as `mapped` has.
size_t sum_mapped_scratch(int n) { return sizeof(float) * n; }

void sum_mapped(const float *mapped, int n, int passes, double *out, void *scratch)
{
    const float *values = mapped;
    // TODO 19 (sum_mapped): Set the sums to 0, from which add_to_sum goes on;
    // also when there are no values. cudaMemsetAsync does.
    if (n == 0) return;
    // TODO 20 (sum_mapped: speed): When everything else passes: copy the values
    // to scratch first, and let `values` point there.
    int blocks = pieces(n, block_size) < 1024 ? pieces(n, block_size) : 1024;
    for (int p = 0; p < passes; ++p) add_powers<<<blocks, block_size>>>(values, n, p + 1, out + p);
    check_launch("add_powers");
}

static __global__ void scale(float *managed, int n, float factor)
{
    // TODO 21 (scale_managed): An element a thread.
}

void scale_managed(float *managed, int n, float factor, int rounds)
{
    if (n == 0) return;
    [[maybe_unused]] cudaMemLocation here{};
    here.type = cudaMemLocationTypeDevice;
    check(cudaGetDevice(&here.id), "cudaGetDevice");
    // TODO 22 (scale_managed: speed): When everything else passes: let the
    // runtime bring all pages here before the first kernel asks for one.
    for (int k = 0; k < rounds; ++k)
        scale<<<pieces(n, block_size), block_size>>>(managed, n, factor);
    check_launch("scale");
}
