// Right: no pivots: a part is split into 256 buckets by eight of its bits,
// from the highest on, at most four levels deep; neighbouring small buckets share a leaf, all
// leaves are one grid.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <type_traits>

namespace {

constexpr int threads = 256, per_thread = 16, tile = threads * per_thread;
constexpr int leaf_size = 8192, buckets = 256;

// Keys at to at + n - 1, to be split by the digit of this level.
struct part {
    int at, n, first_tile;
};
struct leaf {
    int at, n;
    bool in_data;
};
enum stage_of_work { counting, moving, sorting_leaves, over };

struct state {
    unsigned *data, *other;
    part *parts, *next_parts;
    int *rows, *next_rows; // buckets numbers for each part: counts, then where the next key goes
    leaf *leaves;
    int count, tiles, next_count, next_tiles, leaf_count, level;
    stage_of_work stage;

    __device__ const unsigned *from() const { return level % 2 ? other : data; }
    __device__ unsigned *to() const { return level % 2 ? data : other; }
    __device__ int bucket(unsigned key) const { return key >> (24 - 8 * level) & (buckets - 1); }
    __device__ int grid() const { return stage == sorting_leaves ? leaf_count : tiles; }
};

__device__ int part_of_tile(const state &s, int t)
{
    int low = 0, high = s.count;
    while (high - low > 1)
        (s.parts[(low + high) / 2].first_tile <= t ? low : high) = (low + high) / 2;
    return low;
}

// A block counts a tile's keys, or moves them; when moving, it first reserves room for each bucket.
__device__ void do_tile(const state &s, int t)
{
    __shared__ int counts[buckets];
    const int which = part_of_tile(s, t);
    const part p = s.parts[which];
    const int first = (t - p.first_tile) * tile + threadIdx.x;
    int *row = s.rows + size_t(which) * buckets;
    __syncthreads();
    counts[threadIdx.x] = 0;
    __syncthreads();
    unsigned keys[per_thread];
    int rank[per_thread];
#pragma unroll
    for (int k = 0; k < per_thread; ++k)
        if (int i = first + k * threads; i < p.n) {
            keys[k] = s.from()[p.at + i];
            rank[k] = atomicAdd(&counts[s.bucket(keys[k])], 1);
        }
    __syncthreads();
    if (int c = counts[threadIdx.x]) counts[threadIdx.x] = atomicAdd(&row[threadIdx.x], c);
    if (s.stage == counting) return;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < per_thread; ++k)
        if (first + k * threads < p.n) s.to()[p.at + counts[s.bucket(keys[k])] + rank[k]] = keys[k];
}

// A bitonic network whose first step of each run compares mirror images, so that it takes any n.
__device__ void do_leaf(const state &s, int which)
{
    __shared__ unsigned keys[leaf_size];
    const leaf l = s.leaves[which];
    const unsigned *from = (l.in_data ? s.data : s.other) + l.at;
    for (int i = threadIdx.x; i < l.n; i += threads) keys[i] = from[i];
    for (int run = 2; run < 2 * l.n; run *= 2)
        for (int d = run / 2; d > 0; d /= 2) {
            __syncthreads();
            for (int i = threadIdx.x; (i & -d) * 2 < l.n; i += threads) {
                int in = i & (d - 1), low = (i & -d) * 2 + in;
                int high = d == run / 2 ? low - in + 2 * d - 1 - in : low + d;
                if (high >= l.n) continue;
                unsigned a = keys[low], b = keys[high];
                if (a > b) keys[low] = b, keys[high] = a;
            }
        }
    __syncthreads();
    for (int i = threadIdx.x; i < l.n; i += threads) s.data[l.at + i] = keys[i];
    __syncthreads();
}

__device__ void do_work(const state &s, int b)
{
    if (s.stage == sorting_leaves)
        do_leaf(s, b);
    else
        do_tile(s, b);
}
__global__ void work(state s) { do_work(s, blockIdx.x); }

// Turns counts into places, and says what comes after this level: parts and leaves.
__device__ void plan(state &s)
{
    __shared__ unsigned long long made; // parts << 32 | their tiles
    __shared__ int leaves;
    if (threadIdx.x == 0) made = 0, leaves = s.leaf_count;
    __syncthreads();
    const bool last = s.level == 3, to_data = s.to() == s.data;
    for (int i = threadIdx.x; i < s.count; i += threads) {
        int *row = s.rows + size_t(i) * buckets, place = 0, open = 0; // small ones from `open` on
        auto close = [&](int end) {
            // What the last digit has parted is sorted, and in data.
            if (end > open && !last)
                s.leaves[atomicAdd(&leaves, 1)] = {s.parts[i].at + open, end - open, to_data};
        };
        for (int b = 0; b < buckets; ++b) {
            int n = row[b];
            row[b] = place;
            if (place + n - open > leaf_size) close(place), open = place;
            if (n > leaf_size && !last) {
                int tiles = (n - 1) / tile + 1;
                unsigned long long had = atomicAdd(&made, 1ull << 32 | unsigned(tiles));
                s.next_parts[had >> 32] = {s.parts[i].at + place, n, int(unsigned(had))};
                open = place + n;
            }
            place += n;
        }
        close(place);
    }
    __syncthreads();
    s.next_count = made >> 32, s.next_tiles = unsigned(made), s.leaf_count = leaves;
    for (size_t i = threadIdx.x; i < size_t(s.next_count) * buckets; i += threads)
        s.next_rows[i] = 0;
    __syncthreads();
}

__device__ state after(state s)
{
    if (s.stage == counting) {
        s.stage = moving;
    } else if (s.stage == moving && s.next_count > 0) {
        part *parts = s.parts;
        s.parts = s.next_parts, s.next_parts = parts;
        int *rows = s.rows;
        s.rows = s.next_rows, s.next_rows = rows;
        s.count = s.next_count, s.tiles = s.next_tiles, s.stage = counting;
        ++s.level;
    } else {
        s.stage = s.stage == moving && s.leaf_count > 0 ? sorting_leaves : over;
    }
    return s;
}

// One block sees to a stage, and by its tail to all later ones. If even the tail is refused, it
// does the work of the stage itself, and goes on with the next.
__global__ void drive(state s, int n)
{
    __shared__ bool tail_taken, grid_taken;
    if (n > 0) { // launched by the host
        if (threadIdx.x == 0) s.parts[0] = {0, n, 0}, s.leaves[0] = {0, n, true};
        s.rows[threadIdx.x] = 0;
        __syncthreads();
    }
    while (s.stage != over) {
        if (s.stage == moving) plan(s);
        const state next = after(s);
        if (threadIdx.x == 0) {
            tail_taken = grid_taken = false;
            if (next.stage != over) {
                drive<<<1, threads, 0, cudaStreamTailLaunch>>>(next, 0);
                tail_taken = cudaGetLastError() == cudaSuccess;
            }
            if (tail_taken || next.stage == over) {
                work<<<s.grid(), threads, 0, cudaStreamFireAndForget>>>(s);
                grid_taken = cudaGetLastError() == cudaSuccess;
            }
        }
        __syncthreads();
        if (!grid_taken)
            for (int b = 0; b < s.grid(); ++b) do_work(s, b);
        if (tail_taken) return;
        __syncthreads();
        s = next;
    }
}

size_t lay_out(char *scratch, unsigned *data, int n, state &s)
{
    size_t used = 0, parts = n / leaf_size + 1;
    auto take = [&](auto *&pointer, size_t count) {
        pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(scratch + used);
        used += (sizeof(*pointer) * count + 255) / 256 * 256;
    };
    s = {};
    s.data = data;
    take(s.other, n);
    take(s.parts, parts), take(s.next_parts, parts);
    take(s.rows, parts * buckets), take(s.next_rows, parts * buckets);
    // A part of n keys leaves at most 2 * n / leaf_size + 1 leaves behind, at each of three levels.
    take(s.leaves, 9 * parts);
    return used;
}

} // namespace

size_t quicksort_scratch(int n)
{
    state s;
    return lay_out(nullptr, nullptr, n, s);
}

void quicksort(unsigned *data, int n, void *scratch)
{
    if (n < 2) return;
    state s;
    lay_out(static_cast<char *>(scratch), data, n, s);
    s.stage = n <= leaf_size ? sorting_leaves : counting;
    s.count = s.leaf_count = 1;
    s.tiles = (n - 1) / tile + 1;
    if (s.stage == counting) s.leaf_count = 0;
    drive<<<1, threads>>>(s, n);
    check_launch("drive");
}
