// Right: inline PTX for constant, shared and asynchronous accesses; blocks of 160 threads.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <cstdio>

constexpr int threads = 160; // five warps

static int grid_for(int n, int a_thread = 1)
{
    int a_block = threads * a_thread;
    return n / a_block + (n % a_block != 0);
}

__device__ static int number()
{
    int i;
    asm("mad.lo.s32 %0, %1, %2, %3;"
        : "=r"(i)
        : "r"(blockIdx.x), "r"(blockDim.x), "r"(threadIdx.x));
    return i;
}

__device__ static unsigned in_shared(const void *at)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

void device_facts(device_facts_t *out_host)
{
    int device;
    cudaDeviceProp p;
    check(cudaGetDeviceCount(&out_host->devices), "cudaGetDeviceCount");
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaGetDeviceProperties(&p, device), "cudaGetDeviceProperties");
    std::snprintf(out_host->name, sizeof out_host->name, "%s", p.name);
    struct {
        cudaDeviceAttr which;
        int *to;
    } const wanted[] = {{cudaDevAttrMultiProcessorCount, &out_host->multiprocessors},
                        {cudaDevAttrMaxThreadsPerBlock, &out_host->max_threads_per_block},
                        {cudaDevAttrWarpSize, &out_host->warp_size},
                        {cudaDevAttrAsyncEngineCount, &out_host->copy_engines}};
    for (auto [which, to] : wanted) check(cudaDeviceGetAttribute(to, which, device), "attribute");
    out_host->shared_per_block = p.sharedMemPerBlock;
    out_host->constant_memory = p.totalConstMem;
    out_host->l2 = p.l2CacheSize;
}

__device__ static float in_global;
__global__ static void add_one()
{
    asm volatile("red.global.add.f32 [%0], 0f3F800000;" ::"l"(__cvta_generic_to_global(&in_global))
                 : "memory");
}

void add_to_global(float start, float *out_host)
{
    check(cudaMemcpyToSymbol(in_global, &start, sizeof start), "cudaMemcpyToSymbol");
    check(cudaLaunchKernel(reinterpret_cast<void *>(add_one), 1, 1, nullptr, 0, nullptr),
          "add_one");
    check(cudaMemcpyFromSymbol(out_host, in_global, sizeof start), "cudaMemcpyFromSymbol");
}

__constant__ static float coefficients[max_coefficients];

__global__ static void evaluate(const float *x, float *y, int n, int degree)
{
    const int first = number(), apart = gridDim.x * threads;
    size_t at;
    asm("cvta.to.const.u64 %0, %1;" : "=l"(at) : "l"(coefficients + degree));
    float value[5] = {}, sum[5], c;
    asm volatile("ld.const.f32 %0, [%1];" : "=f"(c) : "l"(at));
#pragma unroll
    for (int e = 0; e < 5; ++e) {
        int i = first + e * apart;
        if (i < n) asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(value[e]) : "l"(x + i));
        sum[e] = c;
    }
    for (int k = degree; k > 0; --k) {
        at -= sizeof(float);
        asm volatile("ld.const.f32 %0, [%1];" : "=f"(c) : "l"(at));
#pragma unroll
        for (int e = 0; e < 5; ++e)
            asm("fma.rn.f32 %0, %0, %1, %2;" : "+f"(sum[e]) : "f"(value[e]), "f"(c));
    }
#pragma unroll
    for (int e = 0; e < 5; ++e)
        if (int i = first + e * apart; i < n)
            asm volatile("st.global.f32 [%0], %1;" ::"l"(y + i), "f"(sum[e]) : "memory");
}

void polynomial(const float *x, float *y, int n, const float *coefficients_host, int degree)
{
    if (n == 0) return;
    check(cudaMemcpyToSymbol(coefficients, coefficients_host, sizeof(float) * (degree + 1)),
          "cudaMemcpyToSymbol");
    evaluate<<<grid_for(n, 5), threads>>>(x, y, n, degree);
    check_launch("evaluate");
}

__device__ static uint4 next_state[16]; // 256 bytes

// A warp needs no other warp: five
// copies of the table, one a warp, brought by cp.async, 16 bytes a lane.
__global__ static void walk(const unsigned char *start, unsigned char *out, int n, int steps)
{
    __shared__ uint4 tables[threads / 32][16];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned table = in_shared(tables[warp]);
    if (lane < 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(table + 16 * lane),
                     "l"(__cvta_generic_to_global(next_state + lane))
                     : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncwarp(); // the other lanes' have come too
    for (int i = number(); i < n; i += gridDim.x * threads) {
        unsigned s = start[i];
        for (int k = 0; k < steps; ++k)
            asm volatile("ld.shared.u8 %0, [%1];" : "=r"(s) : "r"(table + s));
        out[i] = static_cast<unsigned char>(s);
    }
}

void follow(const unsigned char *start, const unsigned char *next_host, unsigned char *out, int n,
            int steps)
{
    if (n == 0) return;
    check(cudaMemcpyToSymbol(next_state, next_host, 256), "cudaMemcpyToSymbol");
    walk<<<grid_for(n, 8), threads>>>(start, out, n, steps);
    check_launch("walk");
}

__device__ static void order(float &a, float &b)
{
    float low;
    asm("min.f32 %0, %1, %2;" : "=f"(low) : "f"(a), "f"(b));
    asm("max.f32 %0, %1, %2;" : "=f"(b) : "f"(a), "f"(b));
    a = low;
}

// Runs of four lanes: each sorts four elements, then they merge by exchanges
// with the lane across; a run is read by neighbours, as float4's places.
__global__ static void sort_runs(const float *in, float *out, int n)
{
    int first = number() * 4, lane = threadIdx.x % 4;
    float v[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) v[e] = first + e < n ? in[first + e] : INFINITY;
    order(v[0], v[1]), order(v[2], v[3]), order(v[0], v[2]), order(v[1], v[3]), order(v[1], v[2]);
    // Merge sorted halves of 2 * `lanes` lanes: smallest against largest, ...
#pragma unroll
    for (int lanes = 1; lanes < 4; lanes *= 2) {
        float w[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) w[e] = __shfl_xor_sync(~0u, v[3 - e], 2 * lanes - 1);
        bool lower = !(lane & lanes);
#pragma unroll
        for (int e = 0; e < 4; ++e) v[e] = lower ? fminf(v[e], w[e]) : fmaxf(v[e], w[e]);
        // ... then what is bitonic by halves, across lanes and within.
        if (lanes == 2) {
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                float other = __shfl_xor_sync(~0u, v[e], 1);
                v[e] = lane & 1 ? fmaxf(v[e], other) : fminf(v[e], other);
            }
        }
        order(v[0], v[2]), order(v[1], v[3]), order(v[0], v[1]), order(v[2], v[3]);
    }
#pragma unroll
    for (int e = 0; e < 4; ++e)
        if (first + e < n) out[first + e] = v[e];
}

void small_sort(const float *in, float *out, int n)
{
    if (n == 0) return;
    sort_runs<<<grid_for(n, 4), threads>>>(in, out, n);
    check_launch("sort_runs");
}

__global__ static void reverse_pieces(float *data, int n, int block)
{
    extern __shared__ float before[];
    int first = blockIdx.x * block, length = min(block, n - first);
    for (int e = threadIdx.x; e < length; e += threads)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(in_shared(before + e)),
                     "l"(data + first + e)
                     : "memory");
    asm volatile("cp.async.commit_group; cp.async.wait_group 0; barrier.sync 0;" ::: "memory");
    for (int e = threadIdx.x; e < length; e += threads) data[first + e] = before[length - 1 - e];
}

void reverse_blocks(float *data, int n, int block)
{
    if (n == 0) return;
    reverse_pieces<<<(n - 1) / block + 1, threads, block * sizeof(float)>>>(data, n, block);
    check_launch("reverse_pieces");
}
