// Right: No votes at all: one run of elements per thread, flags counted and scanned by doubling in
// shared memory, kept elements collected there and stored in one go; look-back through inline PTX
// (st.release, ld.acquire).
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int threads = 320, items = 9, tile_size = threads * items;

static int tiles_for(int n) { return (n + tile_size - 1) / tile_size; }

// Of a tile: the count, and that of all up to its end. The flag says which of both is there.
struct tile_state {
    int flag, own, all, unused;
};

static __device__ void store_release(int *at, int value)
{
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}
static __device__ int load_acquire(const int *at)
{
    int value;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

static __device__ int look_back(const tile_state *states, int tile)
{
    int before = 0;
    for (int t = tile - 1; t >= 0; --t) {
        int flag;
        while ((flag = load_acquire(&states[t].flag)) == 0) __nanosleep(40);
        if (flag == 2) return before + states[t].all;
        before += states[t].own;
    }
    return before;
}

// The sum of x over all threads before this one; `all` becomes the sum of all.
static __device__ int exclusive_in_block(int x, int &all)
{
    __shared__ int sums[2][threads];
    const int t = threadIdx.x;
    int side = 0;
    sums[0][t] = x;
    __syncthreads();
    for (int d = 1; d < threads; d *= 2, side ^= 1) {
        sums[side ^ 1][t] = sums[side][t] + (t >= d ? sums[side][t - d] : 0);
        __syncthreads();
    }
    all = sums[side][threads - 1];
    return sums[side][t] - x;
}

// A block's tile, its number, and how many are kept before each thread.
struct tile_counts {
    int number, kept, before_tile, before_thread;
};

static __device__ tile_counts find_places(int kept, int tile, tile_state *states, int *total)
{
    __shared__ int before;
    tile_counts counts{tile, 0, 0, 0};
    counts.before_thread = exclusive_in_block(kept, counts.kept);
    if (threadIdx.x == 0) {
        states[tile].own = counts.kept;
        store_release(&states[tile].flag, 1);
        before = look_back(states, tile);
        states[tile].all = before + counts.kept;
        store_release(&states[tile].flag, 2);
        if (total && tile == gridDim.x - 1) *total = before + counts.kept;
    }
    __syncthreads();
    counts.before_tile = before;
    return counts;
}

static __device__ int next_tile(int *ticket)
{
    __shared__ int tile;
    if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
    __syncthreads();
    return tile;
}

// An odd number of items per thread: runs lie in different banks without any skipping.
static_assert(items % 2 == 1);

// With `others`, what is not kept goes behind all *total that are.
template <bool others> static __global__ void pack(const float *in, float *out, int n, int *ticket,
                                                   tile_state *states, int *total)
{
    __shared__ float values[tile_size], ordered[tile_size];
    const int tile = next_tile(ticket), base = tile * tile_size, count = min(tile_size, n - base);
    for (int i = threadIdx.x; i < count; i += threads) values[i] = in[base + i];
    __syncthreads();
    const int first = threadIdx.x * items, last = min(first + items, count);
    int kept = 0;
    for (int i = first; i < last; ++i) kept += values[i] > 0;
    const tile_counts c = find_places(kept, tile, states, others ? nullptr : total);
    for (int i = first, k = c.before_thread; i < last; ++i) {
        if (values[i] > 0)
            ordered[k++] = values[i];
        else if (others)
            ordered[c.kept + i - k] = values[i];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < c.kept; i += threads) out[c.before_tile + i] = ordered[i];
    if (!others) return;
    const int rest = *total + base - c.before_tile; // where this tile's others begin
    for (int i = c.kept + threadIdx.x; i < count; i += threads) out[rest + i - c.kept] = ordered[i];
}

static __global__ void spread(const float *packed, const unsigned char *keep, float *out, int n,
                              int *ticket, tile_state *states)
{
    __shared__ unsigned char marks[tile_size];
    __shared__ float values[tile_size], results[tile_size];
    const int tile = next_tile(ticket), base = tile * tile_size, count = min(tile_size, n - base);
    for (int i = threadIdx.x; i < count; i += threads) marks[i] = keep[base + i];
    __syncthreads();
    const int first = threadIdx.x * items, last = min(first + items, count);
    int kept = 0;
    for (int i = first; i < last; ++i) kept += marks[i] != 0;
    const tile_counts c = find_places(kept, tile, states, nullptr);
    for (int i = threadIdx.x; i < c.kept; i += threads) values[i] = packed[c.before_tile + i];
    __syncthreads();
    for (int i = first, k = c.before_thread; i < last; ++i) results[i] = marks[i] ? values[k++] : 0;
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += threads) out[base + i] = results[i];
}

static __global__ void count_positive(const float *in, int n, int *count)
{
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    int mine = 0;
    for (int i = blockIdx.x * tile_size + threadIdx.x, k = 0; k < items && i < n; ++k, i += threads)
        mine += in[i] > 0;
    atomicAdd(&sum, mine);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(count, sum);
}

static tile_state *cleared(void *scratch, int tiles)
{
    check(cudaMemsetAsync(scratch, 0, sizeof(tile_state) * (tiles + 1)), "clearing scratch");
    return static_cast<tile_state *>(scratch) + 1; // the ticket lies before
}

size_t compact_scratch(int n) { return sizeof(tile_state) * (tiles_for(n) + 1); }
size_t unpack_scratch(int n) { return sizeof(tile_state) * (tiles_for(n) + 1); }
size_t partition_scratch(int n) { return sizeof(tile_state) * (tiles_for(n) + 1); }

void compact(const float *in, float *out, int *count, int n, void *scratch)
{
    const int tiles = tiles_for(n);
    check(cudaMemsetAsync(count, 0, sizeof *count), "clearing the count");
    if (tiles == 0) return;
    tile_state *states = cleared(scratch, tiles);
    pack<false><<<tiles, threads>>>(in, out, n, static_cast<int *>(scratch), states, count);
    check_launch("pack");
}
void unpack(const float *packed, const unsigned char *keep, float *out, int n, void *scratch)
{
    const int tiles = tiles_for(n);
    if (tiles == 0) return;
    tile_state *states = cleared(scratch, tiles);
    spread<<<tiles, threads>>>(packed, keep, out, n, static_cast<int *>(scratch), states);
    check_launch("spread");
}
void partition(const float *in, float *out, int *kept_count, int n, void *scratch)
{
    const int tiles = tiles_for(n);
    check(cudaMemsetAsync(kept_count, 0, sizeof *kept_count), "clearing the count");
    if (tiles == 0) return;
    count_positive<<<tiles, threads>>>(in, n, kept_count);
    check_launch("count_positive");
    tile_state *states = cleared(scratch, tiles);
    pack<true><<<tiles, threads>>>(in, out, n, static_cast<int *>(scratch), states, kept_count);
    check_launch("pack");
}
