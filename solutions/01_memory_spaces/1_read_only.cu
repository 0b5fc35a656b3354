// Lab 01, rung 1: memories that kernels only read.
//
// New: the coefficients in constant memory, which gives one address a moment to all lanes; the
// image in a texture, which clamps, filters and scales as it reads.
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
    evaluate<<<blocks_for(n), block_size>>>(x, y, n, degree);
    check_launch("evaluate");
}

static __constant__ unsigned char next_state[256];

static __global__ void walk(const unsigned char *start, unsigned char *out, int n, int steps)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    unsigned char state = start[i];
    for (int k = 0; k < steps; ++k) state = next_state[state];
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

static __global__ void sort_runs(const float *in, float *out, int n)
{
    int first = (blockIdx.x * block_size + threadIdx.x) * run_length;
    int length = min(run_length, n - first);
    float run[run_length];
    for (int i = 0; i < length; ++i) {
        float x = in[first + i];
        int at = i;
        for (; at > 0 && run[at - 1] > x; --at) run[at] = run[at - 1];
        run[at] = x;
    }
    for (int i = 0; i < length; ++i) out[first + i] = run[i];
}

void small_sort(const float *in, float *out, int n)
{
    if (n == 0) return;
    sort_runs<<<blocks_for((n + run_length - 1) / run_length), block_size>>>(in, out, n);
    check_launch("sort_runs");
}

// A block a piece; its threads change the places of two elements each.
static __global__ void swap_ends(float *data, int n, int block)
{
    int first = blockIdx.x * block, length = min(block, n - first);
    for (int i = threadIdx.x; i < length / 2; i += block_size) {
        float x = data[first + i];
        data[first + i] = data[first + length - 1 - i];
        data[first + length - 1 - i] = x;
    }
}

void reverse_blocks(float *data, int n, int block)
{
    if (n == 0) return;
    swap_ends<<<(n + block - 1) / block, block_size>>>(data, n, block);
    check_launch("swap_ends");
}

static __global__ void transpose_elements(const float *in, float *out, int rows, int cols)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= rows * cols) return;
    int row = i / cols, col = i % cols;
    out[col * rows + row] = in[i];
}

void transpose(const float *in, float *out, int rows, int cols)
{
    if (rows == 0 || cols == 0) return;
    transpose_elements<<<blocks_for(rows * cols), block_size>>>(in, out, rows, cols);
    check_launch("transpose_elements");
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

float *acquire(size_t n) { return static_cast<float *>(std::malloc(sizeof(float) * n)); }

void upload(const float *src_host, float *dst, size_t n)
{
    check(cudaMemcpy(dst, src_host, sizeof(float) * n, cudaMemcpyHostToDevice), "cudaMemcpy");
}

void release(float *memory) { std::free(memory); }

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

size_t sum_mapped_scratch(int) { return 0; }

void sum_mapped(const float *mapped, int n, int passes, double *out, void *)
{
    check(cudaMemsetAsync(out, 0, sizeof(double) * passes), "cudaMemsetAsync");
    if (n == 0) return;
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
    for (int k = 0; k < rounds; ++k) scale<<<blocks_for(n), block_size>>>(managed, n, factor);
    check_launch("scale");
}
