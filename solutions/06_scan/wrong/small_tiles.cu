// Fails: scan_inclusive: large tiles | TOO_SLOW | bytes published per 1000 elements
// One pass, but one element per thread: there are twelve times as many tiles as need be.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 1024;
constexpr unsigned all_lanes = 0xffffffff;
using word = unsigned long long;
enum state : unsigned { invalid, aggregate, prefix };

static __device__ word packed(state s, int value) { return word(s) << 32 | unsigned(value); }
static __device__ state state_of(word w) { return state(w >> 32); }

static int tiles_for(int n) { return n / block_size + (n % block_size != 0); }

static __device__ int sum_in_warp(int x)
{
    for (int distance = 1; distance < 32; distance *= 2) {
        int left = __shfl_up_sync(all_lanes, x, distance);
        if (int(threadIdx.x % 32) >= distance) x += left;
    }
    return x;
}

// One thread looks back, a tile at a time.
static __device__ int look_back(volatile word *tiles, int t)
{
    int before = 0;
    for (int k = t - 1; k >= 0; --k) {
        word w;
        do w = tiles[k];
        while (state_of(w) == invalid);
        before += int(unsigned(w));
        if (state_of(w) == prefix) break;
    }
    return before;
}

static __global__ void scan_tiles(const int *in, int *out, int n, volatile word *tiles, int *taken)
{
    __shared__ int t, before, of_warps[32];
    if (threadIdx.x == 0) t = atomicAdd(taken, 1);
    __syncthreads();
    int i = t * block_size + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int up_to = sum_in_warp(i < n ? in[i] : 0);
    if (lane == 31) of_warps[warp] = up_to;
    __syncthreads();
    if (warp == 0) of_warps[lane] = sum_in_warp(of_warps[lane]);
    __syncthreads();
    if (threadIdx.x == 0) {
        tiles[t] = packed(aggregate, of_warps[31]);
        before = look_back(tiles, t);
        tiles[t] = packed(prefix, before + of_warps[31]);
    }
    __syncthreads();
    if (i < n) out[i] = before + up_to + (warp > 0 ? of_warps[warp - 1] : 0);
}

size_t scan_inclusive_scratch(int n) { return sizeof(word) * tiles_for(n) + sizeof(int); }

void scan_inclusive(const int *in, int *out, int n, void *scratch)
{
    if (n == 0) return;
    word *tiles = static_cast<word *>(scratch);
    int *taken = reinterpret_cast<int *>(tiles + tiles_for(n));
    cudaMemsetAsync(scratch, 0, scan_inclusive_scratch(n));
    scan_tiles<<<tiles_for(n), block_size>>>(in, out, n, tiles, taken);
}

// Not begun.
void scan_block_inclusive(const int *, int *, int) {}
void scan_block_exclusive(const int *, int *, int) {}
size_t scan_exclusive_scratch(int) { return 0; }
void scan_exclusive(const int *, int *, int, void *) {}
size_t scan_inclusive_int64_scratch(int) { return 0; }
void scan_inclusive_int64(const std::int64_t *, std::int64_t *, int, void *) {}
size_t scan_inclusive_float_scratch(int) { return 0; }
void scan_inclusive_float(const float *, float *, int, void *) {}
