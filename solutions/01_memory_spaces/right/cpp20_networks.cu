// Right: C++20: a constexpr Batcher network unrolled by an index sequence, a kernel a degree from a
// table of templates, RAII, atomic_ref.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda/atomic>
#include <cuda/std/array>
#include <cuda/std/span>
#include <cuda/std/utility>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>

namespace {

constexpr int threads = 256;
template <std::integral I> constexpr int blocks_for(I n, int a_block = threads)
{
    return static_cast<int>((n + a_block - 1) / a_block);
}
__device__ int my_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ float in_global;
__global__ void add_one()
{
    cuda::atomic_ref<float, cuda::thread_scope_device>(in_global).fetch_add(1.0f);
}

__constant__ float coefficients[max_coefficients];
constexpr int of_thread = 4; // elements of a polynomial

// With the degree known to the compiler each coefficient is an operand of a multiply-add, straight
// from constant memory, for each of a thread's elements.
template <int degree> __global__ void evaluate(const float *x, float *y, int n)
{
    const int first = my_number(), apart = gridDim.x * threads;
    float at[of_thread], sum[of_thread];
#pragma unroll
    for (int e = 0; e < of_thread; ++e) {
        at[e] = first + e * apart < n ? x[first + e * apart] : 0;
        sum[e] = coefficients[degree];
    }
#pragma unroll
    for (int k = degree - 1; k >= 0; --k)
#pragma unroll
        for (int e = 0; e < of_thread; ++e) sum[e] = fmaf(sum[e], at[e], coefficients[k]);
#pragma unroll
    for (int e = 0; e < of_thread; ++e)
        if (first + e * apart < n) y[first + e * apart] = sum[e];
}
using evaluator = void (*)(const float *, float *, int);
constexpr auto evaluators = []<int... degree>(std::integer_sequence<int, degree...>)
{
    return std::array<evaluator, sizeof...(degree)>{evaluate<degree>...};
}
(std::make_integer_sequence<int, max_coefficients>());

__device__ unsigned char next_state[256];

// 256 bytes a warp instead of a block, so that eight warps do not meet in it.
__global__ void __launch_bounds__(threads)
    walk(const unsigned char *start, unsigned char *out, int n, int steps)
{
    __shared__ cuda::std::array<unsigned char, 256> tables[threads / 32];
    auto &table = tables[threadIdx.x / 32];
    for (int s = threadIdx.x % 32; s < 256; s += 32) table[s] = next_state[s];
    __syncwarp();
    for (int i = my_number(); i < n; i += gridDim.x * blockDim.x) {
        unsigned char s = start[i];
        for (int k = 0; k < steps; ++k) s = table[s];
        out[i] = s;
    }
}

// Batcher's odd-even merge sort of 16: 63 comparisons.
struct comparison {
    int low, high;
};
struct network {
    comparison all[63];
};
__host__ __device__ constexpr network batcher()
{
    network result{};
    int count = 0;
    for (int p = 1; p < run_length; p *= 2)
        for (int k = p; k >= 1; k /= 2)
            for (int j = k % p; j + k < run_length; j += 2 * k)
                for (int i = 0; i < k && i + j + k < run_length; ++i)
                    if ((i + j) / (2 * p) == (i + j + k) / (2 * p))
                        result.all[count++] = {i + j, i + j + k};
    return result;
}

template <int c> __device__ void compare(float (&run)[run_length])
{
    constexpr comparison places = batcher().all[c];
    float low = fminf(run[places.low], run[places.high]);
    run[places.high] = fmaxf(run[places.low], run[places.high]);
    run[places.low] = low;
}
template <int... c>
__device__ void sort(float (&run)[run_length], cuda::std::integer_sequence<int, c...>)
{
    (compare<c>(run), ...);
}

__global__ void sort_runs(cuda::std::span<const float> in, float *out)
{
    const int first = my_number() * run_length, n = static_cast<int>(in.size());
    if (first >= n) return;
    float run[run_length];
#pragma unroll
    for (int e = 0; e < run_length; ++e) run[e] = first + e < n ? in[first + e] : INFINITY;
    sort(run, cuda::std::make_integer_sequence<int, 63>());
#pragma unroll
    for (int e = 0; e < run_length; ++e)
        if (first + e < n) out[first + e] = run[e];
}

__global__ void reverse_pieces(float *data, int n, int block)
{
    extern __shared__ float before[];
    int begin = blockIdx.x * block;
    cuda::std::span piece(data + begin, static_cast<size_t>(min(block, n - begin)));
    for (int e = threadIdx.x; e < piece.size(); e += blockDim.x) before[e] = piece[e];
    __syncthreads();
    for (int e = threadIdx.x; e < piece.size(); e += blockDim.x)
        piece[e] = before[piece.size() - 1 - e];
}

template <auto release> struct releaser {
    template <typename T> void operator()(T *what) const { release(what); }
};

} // namespace

void device_facts(device_facts_t *out_host)
{
    int devices, device;
    cudaDeviceProp p;
    check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaGetDeviceProperties(&p, device), "cudaGetDeviceProperties");
    *out_host = {.devices = devices,
                 .multiprocessors = p.multiProcessorCount,
                 .max_threads_per_block = p.maxThreadsPerBlock,
                 .shared_per_block = p.sharedMemPerBlock,
                 .constant_memory = p.totalConstMem,
                 .l2 = static_cast<size_t>(p.l2CacheSize),
                 .warp_size = p.warpSize,
                 .copy_engines = p.asyncEngineCount};
    std::ranges::copy(p.name, out_host->name);
}

void add_to_global(float start, float *out_host)
{
    check(cudaMemcpyToSymbol(in_global, &start, sizeof start), "cudaMemcpyToSymbol");
    add_one<<<1, 1>>>();
    check_launch("add_one");
    check(cudaMemcpyFromSymbol(out_host, in_global, sizeof *out_host), "cudaMemcpyFromSymbol");
}

void polynomial(const float *x, float *y, int n, const float *coefficients_host, int degree)
{
    if (n == 0) return;
    std::span given(coefficients_host, degree + 1);
    check(cudaMemcpyToSymbol(coefficients, given.data(), given.size_bytes()), "cudaMemcpyToSymbol");
    evaluators[degree]<<<blocks_for(n, threads * of_thread), threads>>>(x, y, n);
    check_launch("evaluate");
}

void follow(const unsigned char *start, const unsigned char *next_host, unsigned char *out, int n,
            int steps)
{
    if (n == 0) return;
    check(cudaMemcpyToSymbol(next_state, next_host, sizeof next_state), "cudaMemcpyToSymbol");
    walk<<<std::min(blocks_for(n, 4 * threads), 1024), threads>>>(start, out, n, steps);
    check_launch("walk");
}

void small_sort(const float *in, float *out, int n)
{
    if (n == 0) return;
    sort_runs<<<blocks_for(n, threads * run_length), threads>>>({in, static_cast<size_t>(n)}, out);
    check_launch("sort_runs");
}

void reverse_blocks(float *data, int n, int block)
{
    if (n == 0) return;
    int wide = std::min(threads, blocks_for(block, 32) * 32);
    reverse_pieces<<<blocks_for(n, block), wide, block * sizeof(float)>>>(data, n, block);
    check_launch("reverse_pieces");
}

using pinned = std::unique_ptr<float, releaser<cudaFreeHost>>;
static std::unordered_map<float *, pinned> given_out;

void release(float *memory) { given_out.erase(memory); }
