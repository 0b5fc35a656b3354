// Fails: compact: none or all kept | RACE | make it volatile, or use atomics
// On gpu: may pass - the compiler may load a state anew in each turn
// The states of the tiles are loaded and stored like any data.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

namespace {

using u64 = unsigned long long;
constexpr int THREADS = 256, WARPS = THREADS / 32, ROWS = 16, TILE = THREADS * ROWS;
constexpr unsigned ALL = 0xffffffffu;
constexpr u64 AGG = 1ull << 32, PRE = 2ull << 32;

int tiles_of(int n) { return n / TILE + (n % TILE ? 1 : 0); }

struct is_positive {
    const float *in;
    __device__ bool operator()(int i) const { return in[i] > 0; }
};
struct is_marked {
    const unsigned char *keep;
    __device__ bool operator()(int i) const { return keep[i] != 0; }
};

// Votes of the warp's rows, and where its elements begin in the tile's.
struct warp_info {
    unsigned votes[ROWS];
    int first;       // element of lane 0
    int warp_before; // kept in this tile before this warp
    int tile_count;
};

template <class K> __device__ void vote(K kept, int tile, int n, warp_info &w)
{
    __shared__ int counts[WARPS];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    w.first = tile * TILE + warp * 32 * ROWS;
    int mine = 0;
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        int i = w.first + 32 * r + lane;
        w.votes[r] = __ballot_sync(ALL, i < n && kept(i));
        mine += __popc(w.votes[r]);
    }
    if (lane == 0) counts[warp] = mine;
    __syncthreads();
    w.warp_before = w.tile_count = 0;
    for (int k = 0; k < WARPS; ++k) {
        if (k < warp) w.warp_before += counts[k];
        w.tile_count += counts[k];
    }
}

__device__ int take_tile(int *ticket)
{
    __shared__ int tile;
    if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
    __syncthreads();
    return tile;
}

__device__ int look_back(u64 *state, int tile, int count)
{
    __shared__ int before;
    if (threadIdx.x == 0) {
        int sum = 0;
        if (tile > 0) {
            __threadfence();
            state[tile] = AGG | unsigned(count);
            for (int t = tile - 1;; --t) {
                u64 s;
                do s = state[t];
                while (s == 0);
                __threadfence();
                sum += int(s);
                if (s & PRE) break;
            }
        }
        __threadfence();
        state[tile] = PRE | unsigned(sum + count);
        before = sum;
    }
    __syncthreads();
    return before;
}

__global__ void compact_pass(const float *in, float *out, int *count, int n, u64 *state,
                             int *ticket)
{
    int tile = take_tile(ticket), lane = threadIdx.x % 32;
    warp_info w;
    vote(is_positive{in}, tile, n, w);
    int to = look_back(state, tile, w.tile_count);
    if (tile == gridDim.x - 1 && threadIdx.x == 0) *count = to + w.tile_count;
    to += w.warp_before;
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        unsigned below = w.votes[r] & ((1u << lane) - 1);
        if (w.votes[r] >> lane & 1) out[to + __popc(below)] = in[w.first + 32 * r + lane];
        to += __popc(w.votes[r]);
    }
}

__global__ void unpack_pass(const float *packed, const unsigned char *keep, float *out, int n,
                            u64 *state, int *ticket)
{
    int tile = take_tile(ticket), lane = threadIdx.x % 32;
    warp_info w;
    vote(is_marked{keep}, tile, n, w);
    int from = look_back(state, tile, w.tile_count) + w.warp_before;
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        int i = w.first + 32 * r + lane;
        unsigned below = w.votes[r] & ((1u << lane) - 1);
        if (i < n) out[i] = w.votes[r] >> lane & 1 ? packed[from + __popc(below)] : 0.f;
        from += __popc(w.votes[r]);
    }
}

__global__ void count_pass(const float *in, int n, int *counts)
{
    warp_info w;
    vote(is_positive{in}, blockIdx.x, n, w);
    if (threadIdx.x == 0) counts[blockIdx.x] = w.tile_count;
}

// One warp; counts become sums of those before.
__global__ void scan_pass(int *counts, int tiles, int *total)
{
    int lane = threadIdx.x, carry = 0;
    for (int base = 0; base < tiles; base += 32) {
        int own = base + lane < tiles ? counts[base + lane] : 0, x = own;
        for (int d = 1; d < 32; d *= 2) {
            int y = __shfl_up_sync(ALL, x, d);
            if (lane >= d) x += y;
        }
        if (base + lane < tiles) counts[base + lane] = carry + x - own;
        carry += __shfl_sync(ALL, x, 31);
    }
    if (lane == 0) *total = carry;
}

__global__ void partition_pass(const float *in, float *out, const int *total, int n,
                               const int *starts)
{
    int lane = threadIdx.x % 32;
    warp_info w;
    vote(is_positive{in}, blockIdx.x, n, w);
    int to = starts[blockIdx.x] + w.warp_before, kept = *total;
    for (int r = 0; r < ROWS; ++r) {
        int i = w.first + 32 * r + lane, before = to + __popc(w.votes[r] & ((1u << lane) - 1));
        if (i < n) out[w.votes[r] >> lane & 1 ? before : kept + i - before] = in[i];
        to += __popc(w.votes[r]);
    }
}

size_t words(int n) { return sizeof(u64) * (tiles_of(n) + 1); }

} // namespace

size_t compact_scratch(int n) { return words(n); }
void compact(const float *in, float *out, int *count, int n, void *scratch)
{
    if (n == 0) {
        check(cudaMemsetAsync(count, 0, sizeof(int)), "count");
        return;
    }
    int tiles = tiles_of(n);
    u64 *state = (u64 *)scratch;
    check(cudaMemsetAsync(state, 0, words(n)), "compact memset");
    compact_pass<<<tiles, THREADS>>>(in, out, count, n, state, (int *)(state + tiles));
    check_launch("compact_pass");
}

size_t unpack_scratch(int n) { return words(n); }
void unpack(const float *packed, const unsigned char *keep, float *out, int n, void *scratch)
{
    if (n == 0) return;
    int tiles = tiles_of(n);
    u64 *state = (u64 *)scratch;
    check(cudaMemsetAsync(state, 0, words(n)), "unpack memset");
    unpack_pass<<<tiles, THREADS>>>(packed, keep, out, n, state, (int *)(state + tiles));
    check_launch("unpack_pass");
}

size_t partition_scratch(int n) { return sizeof(int) * tiles_of(n); }
void partition(const float *in, float *out, int *kept_count, int n, void *scratch)
{
    int tiles = tiles_of(n), *counts = (int *)scratch;
    if (n) count_pass<<<tiles, THREADS>>>(in, n, counts);
    scan_pass<<<1, 32>>>(counts, tiles, kept_count);
    if (n) partition_pass<<<tiles, THREADS>>>(in, out, kept_count, n, counts);
    check_launch("partition");
}
