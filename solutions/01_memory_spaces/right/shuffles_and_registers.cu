// Right: no shared memory anywhere: tables, tiles and runs lie in registers and go round by
// shuffles of cooperative groups; coefficients are a kernel's parameter.
#include "../check.hpp"
#include "lab.hpp"

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>

namespace cg = cooperative_groups;

constexpr int threads = 128;

static int blocks_for(int n, int a_block = threads) { return (n - 1) / a_block + 1; }

__device__ static auto this_warp() { return cg::tiled_partition<32>(cg::this_thread_block()); }

void device_facts(device_facts_t *out_host)
{
    int device;
    cudaDeviceProp p;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaGetDeviceProperties(&p, device), "cudaGetDeviceProperties");
    check(cudaGetDeviceCount(&out_host->devices), "cudaGetDeviceCount");
    std::snprintf(out_host->name, sizeof out_host->name, "%s", p.name);
    out_host->multiprocessors = p.multiProcessorCount;
    out_host->max_threads_per_block = p.maxThreadsPerBlock;
    out_host->shared_per_block = p.sharedMemPerBlock;
    out_host->constant_memory = p.totalConstMem;
    out_host->l2 = static_cast<size_t>(p.l2CacheSize);
    out_host->warp_size = p.warpSize;
    out_host->copy_engines = p.asyncEngineCount;
}

__device__ static float in_global;
__global__ static void add_one() { in_global++; }

void add_to_global(float start, float *out_host)
{
    check(cudaMemcpyToSymbolAsync(in_global, &start, sizeof start, 0, cudaMemcpyHostToDevice),
          "cudaMemcpyToSymbolAsync");
    add_one<<<1, 1>>>();
    check_launch("add_one");
    check(cudaMemcpyFromSymbol(out_host, in_global, sizeof(float)), "cudaMemcpyFromSymbol");
}

// A kernel's parameters lie in constant memory: the launch brings them there.
struct polynomial_t {
    float c[max_coefficients];
    int degree;
};

__global__ static void evaluate(const __grid_constant__ polynomial_t p, const float *x, float *y,
                                int n)
{
    int i = cg::this_grid().thread_rank();
    if (i >= n) return;
    float at = x[i], sum = p.c[p.degree];
    for (int k = p.degree - 1; k >= 0; --k) sum = sum * at + p.c[k];
    y[i] = sum;
}

void polynomial(const float *x, float *y, int n, const float *coefficients_host, int degree)
{
    if (n == 0) return;
    polynomial_t p{};
    std::copy_n(coefficients_host, degree + 1, p.c);
    p.degree = degree;
    evaluate<<<blocks_for(n), threads>>>(p, x, y, n);
    check_launch("evaluate");
}

__device__ static uint2 next_state[32]; // 256 entries, eight of them a lane

// Lane l holds entries 8 l to 8 l + 7 of the table, in two registers.
__global__ static void walk(const unsigned char *start, unsigned char *out, int n, int steps)
{
    auto warp = this_warp();
    uint2 mine = next_state[warp.thread_rank()];
    int i = cg::this_grid().thread_rank();
    unsigned s = i < n ? start[i] : 0; // lanes without an element still hand out
    while (steps-- > 0) {
        unsigned low = warp.shfl(mine.x, s / 8), high = warp.shfl(mine.y, s / 8);
        s = __byte_perm(low, high, s % 8) & 255;
    }
    if (i < n) out[i] = static_cast<unsigned char>(s);
}

void follow(const unsigned char *start, const unsigned char *next_host, unsigned char *out, int n,
            int steps)
{
    if (n == 0) return;
    check(cudaMemcpyToSymbol(next_state, next_host, sizeof next_state), "cudaMemcpyToSymbol");
    walk<<<blocks_for(n), threads>>>(start, out, n, steps);
    check_launch("walk");
}

// A lane an element, 16 lanes a run: a bitonic network whose wires are shuffles.
__global__ static void sort_runs(const float *in, float *out, int n)
{
    auto run = cg::tiled_partition<run_length>(cg::this_thread_block());
    int i = cg::this_grid().thread_rank(), lane = run.thread_rank();
    float mine = i < n ? in[i] : INFINITY;
#pragma unroll
    for (int size = 2; size <= run_length; size *= 2)
#pragma unroll
        for (int apart = size / 2; apart > 0; apart /= 2) {
            float other = run.shfl_xor(mine, apart);
            bool wants_small = !(lane & apart) == !(lane & size);
            mine = wants_small ? fminf(mine, other) : fmaxf(mine, other);
        }
    if (i < n) out[i] = mine;
}

void small_sort(const float *in, float *out, int n)
{
    if (n == 0) return;
    sort_runs<<<blocks_for(n), threads>>>(in, out, n);
    check_launch("sort_runs");
}

// A thread a pair, which it swaps; `half` pairs a piece.
__global__ static void swap_pairs(float *data, int n, int block, int half, int pairs)
{
    int i = cg::this_grid().thread_rank();
    if (i >= pairs) return;
    int begin = i / half * block, from = i % half, length = min(block, n - begin);
    if (from >= length / 2) return; // in the shorter last piece
    float *low = data + begin + from, *high = data + begin + length - 1 - from, kept = *low;
    *low = *high;
    *high = kept;
}

void reverse_blocks(float *data, int n, int block)
{
    if (n == 0 || block == 1) return;
    int half = block / 2, pairs = ((n - 1) / block + 1) * half;
    swap_pairs<<<blocks_for(pairs), threads>>>(data, n, block, half, pairs);
    check_launch("swap_pairs");
}
