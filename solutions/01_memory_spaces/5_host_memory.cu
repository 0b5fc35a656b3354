// Lab 01, rung 5: memory on the host.
//
// New: pinned memory, copied by the device itself; a copy before the passes, so that the values
// cross the link once; pages brought before a kernel asks for them.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

void device_facts(device_facts_t *out_host)
{
    cudaDeviceProp p;
    int device = 0;
    check(cudaGetDeviceCount(&out_host->devices), "cudaGetDeviceCount");
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaGetDeviceProperties(&p, device), "cudaGetDeviceProperties");
    std::memcpy(out_host->name, p.name, sizeof out_host->name);
    out_host->multiprocessors = p.multiProcessorCount;
    out_host->threads_a_block = p.maxThreadsPerBlock;
    out_host->shared_a_block = p.sharedMemPerBlock;
    out_host->constant_memory = p.totalConstMem;
    out_host->l2 = p.l2CacheSize;
    out_host->warp_size = p.warpSize;
    out_host->copy_engines = p.asyncEngineCount;
}

static __device__ float in_global;

static __global__ void add_one() { in_global += 1; }

void add_to_global(float start, float *out_host)
{
    check(cudaMemcpyToSymbol(in_global, &start, sizeof start), "cudaMemcpyToSymbol");
    add_one<<<1, 1>>>();
    check(cudaMemcpyFromSymbol(out_host, in_global, sizeof *out_host), "cudaMemcpyFromSymbol");
}

static __constant__ float coefficients[most_coefficients];

// With a degree that the compiler knows, each coefficient has an address it knows: no load, but an
// operand of the multiplication.
template <int known>
static __global__ void evaluate(const float *x, float *y, int n, int run_time_degree)
{
    int i = blockIdx.x * block_size + threadIdx.x, degree = known ? known : run_time_degree;
    if (i >= n) return;
    float sum = coefficients[degree];
#pragma unroll
    for (int k = degree - 1; k >= 0; --k) sum = sum * x[i] + coefficients[k];
    y[i] = sum;
}

void polynomial(const float *x, float *y, int n, const float *coefficients_host, int degree)
{
    if (n == 0) return;
    check(cudaMemcpyToSymbol(coefficients, coefficients_host, sizeof(float) * (degree + 1)),
          "cudaMemcpyToSymbol");
    auto kernel = degree == 7 ? evaluate<7> : degree == 31 ? evaluate<31> : evaluate<0>;
    kernel<<<blocks_for(n), block_size>>>(x, y, n, degree);
    check_launch("evaluate");
}

static __device__ unsigned char next_state[256];

static __global__ void walk(const unsigned char *start, unsigned char *out, int n, int steps)
{
    __shared__ unsigned char table[256]; // one entry a thread
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
    check(cudaMemcpyToSymbol(next_state, next_host, 256), "cudaMemcpyToSymbol");
    walk<<<blocks_for(n), block_size>>>(start, out, n, steps);
    check_launch("walk");
}

// Odd-even transposition: which elements meet depends on no data. Once the loops are unrolled every
// index is a constant, and the run is 16 registers.
static __device__ void sort_run(float (&run)[run_length])
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

static __global__ void sort_runs(const float *in, float *out, int n)
{
    int first = (blockIdx.x * block_size + threadIdx.x) * run_length;
    float run[run_length];
#pragma unroll
    for (int i = 0; i < run_length; ++i)
        run[i] = first + i < n ? in[first + i] : INFINITY; // stays behind the others
    sort_run(run);
#pragma unroll
    for (int i = 0; i < run_length; ++i)
        if (first + i < n) out[first + i] = run[i];
}

void small_sort(const float *in, float *out, int n)
{
    if (n == 0) return;
    sort_runs<<<blocks_for((n + run_length - 1) / run_length), block_size>>>(in, out, n);
    check_launch("sort_runs");
}

constexpr int most_of_a_piece = 1024;

// A block has `span` elements, which are whole pieces, but for the last.
static __global__ void reverse_pieces(float *data, int n, int block, int span)
{
    __shared__ float before[most_of_a_piece];
    data += blockIdx.x * span;
    int count = min(span, n - static_cast<int>(blockIdx.x) * span);
    for (int i = threadIdx.x; i < count; i += block_size) before[i] = data[i];
    __syncthreads(); // others read what this thread is about to overwrite
    for (int i = threadIdx.x; i < count; i += block_size) {
        int piece = i / block * block, length = min(block, count - piece);
        data[i] = before[piece + length - 1 - (i - piece)];
    }
}

void reverse_blocks(float *data, int n, int block)
{
    if (n == 0) return;
    int span = most_of_a_piece / block * block;
    reverse_pieces<<<(n + span - 1) / span, block_size>>>(data, n, block, span);
    check_launch("reverse_pieces");
}

constexpr int tile = 32;

static __global__ void __launch_bounds__(block_size)
    transpose_tiles(const float *in, float *out, int rows, int cols, int tiles_across)
{
    __shared__ float turned[tile][tile + 1]; // the column more puts a column into 32 banks
    int row = blockIdx.x / tiles_across * tile, col = blockIdx.x % tiles_across * tile;
    int x = threadIdx.x % tile, y = threadIdx.x / tile;
#pragma unroll
    for (int k = y; k < tile; k += block_size / tile)
        if (row + k < rows && col + x < cols)
            turned[k][x] = in[static_cast<size_t>(row + k) * cols + col + x];
    __syncthreads();
#pragma unroll
    for (int k = y; k < tile; k += block_size / tile)
        if (col + k < cols && row + x < rows)
            out[static_cast<size_t>(col + k) * rows + row + x] = turned[x][k];
}

void transpose(const float *in, float *out, int rows, int cols)
{
    if (rows == 0 || cols == 0) return;
    int across = (cols + tile - 1) / tile, down = (rows + tile - 1) / tile;
    transpose_tiles<<<across * down, block_size>>>(in, out, rows, cols, across);
    check_launch("transpose_tiles");
}

static __global__ void sample(cudaTextureObject_t texture, const float2 *at, float *out, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    // To the texture unit the centre of the first texel is at 0.5.
    if (i < n) out[i] = tex2D<float>(texture, at[i].x + 0.5f, at[i].y + 0.5f);
}

void sample_bilinear(const unsigned char *image, int width, int height, const float2 *at,
                     float *out, int n)
{
    if (n == 0) return;
    cudaChannelFormatDesc texel = cudaCreateChannelDesc<unsigned char>();
    cudaResourceDesc memory{};
    memory.resType = cudaResourceTypeArray;
    check(cudaMallocArray(&memory.res.array.array, &texel, width, height), "cudaMallocArray");
    check(cudaMemcpy2DToArrayAsync(memory.res.array.array, 0, 0, image, width, width, height,
                                   cudaMemcpyDeviceToDevice),
          "cudaMemcpy2DToArrayAsync");
    cudaTextureDesc how{};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = cudaReadModeNormalizedFloat;
    cudaTextureObject_t texture = 0;
    check(cudaCreateTextureObject(&texture, &memory, &how, nullptr), "cudaCreateTextureObject");
    sample<<<blocks_for(n), block_size>>>(texture, at, out, n);
    check(cudaDeviceSynchronize(), "sample"); // the texture must outlive it
    check(cudaDestroyTextureObject(texture), "cudaDestroyTextureObject");
    check(cudaFreeArray(memory.res.array.array), "cudaFreeArray");
}

float *acquire(size_t n)
{
    void *memory = nullptr;
    check(cudaMallocHost(&memory, sizeof(float) * n), "cudaMallocHost");
    return static_cast<float *>(memory);
}

void upload(const float *src_host, float *dst, size_t n)
{
    check(cudaMemcpyAsync(dst, src_host, sizeof(float) * n, cudaMemcpyHostToDevice),
          "cudaMemcpyAsync");
}

void release(float *memory) { check(cudaFreeHost(memory), "cudaFreeHost"); }

// Adds to *sum what the threads of a block have found.
static __device__ void add_block(double found, double *sum)
{
    __shared__ double all[block_size];
    all[threadIdx.x] = found;
    for (int half = block_size / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) all[threadIdx.x] += all[threadIdx.x + half];
    }
    if (threadIdx.x == 0) atomicAdd(sum, all[0]);
}

static __global__ void add_powers(const float *mapped, int n, int power, double *sum)
{
    double found = 0;
    for (int i = blockIdx.x * block_size + threadIdx.x; i < n; i += gridDim.x * block_size) {
        double x = mapped[i], product = x;
        for (int k = 1; k < power; ++k) product *= x;
        found += product;
    }
    add_block(found, sum);
}

size_t sum_mapped_scratch(int n) { return sizeof(float) * n; }

void sum_mapped(const float *mapped, int n, int passes, double *out, void *scratch)
{
    check(cudaMemsetAsync(out, 0, sizeof(double) * passes), "cudaMemsetAsync");
    if (n == 0) return;
    // One crossing for all passes; a single one may as well read where the values are.
    if (passes > 1) {
        check(cudaMemcpyAsync(scratch, mapped, sizeof(float) * n, cudaMemcpyHostToDevice),
              "cudaMemcpyAsync");
        mapped = static_cast<const float *>(scratch);
    }
    for (int p = 0; p < passes; ++p)
        add_powers<<<min(blocks_for(n), 2048), block_size>>>(mapped, n, p + 1, out + p);
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
    cudaMemLocation here{};
    here.type = cudaMemLocationTypeDevice;
    check(cudaGetDevice(&here.id), "cudaGetDevice");
    check(cudaMemAdvise(managed, sizeof(float) * n, cudaMemAdviseSetPreferredLocation, here),
          "cudaMemAdvise");
    check(cudaMemPrefetchAsync(managed, sizeof(float) * n, here, 0), "cudaMemPrefetchAsync");
    for (int k = 0; k < rounds; ++k) scale<<<blocks_for(n), block_size>>>(managed, n, factor);
    check_launch("scale");
}
