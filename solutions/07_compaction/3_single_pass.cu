// Lab 07, rung 3: compact and unpack go over the elements once. A tile does not wait for a pass to
// end to learn where it begins: it looks back at what the tiles before it have told.
#include "lab.hpp"

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

constexpr int block_size = 256, warps = block_size / 32;
constexpr int per_thread = 16, per_warp = 32 * per_thread, tile = block_size * per_thread;

static void check(cudaError_t error, const char *step)
{
    if (error != cudaSuccess)
        throw std::runtime_error(std::string(step) + ": " + cudaGetErrorString(error));
}

// What a tile has told so far. State and count are one word: nobody can see only one of them, so
// that no fence is needed.
using word = unsigned long long;
enum state : unsigned { nothing, own, sum }; // its own count; the sum of its and all before it

static __device__ word told(state s, int count) { return word(s) << 32 | unsigned(count); }
static __device__ state state_of(word w) { return state(w >> 32); }
static __device__ int count_of(word w) { return int(unsigned(w)); }

// Scratch: a word a tile, and how many tiles have been taken.
struct board {
    volatile word *tiles;
    int *taken;
};

static int tiles_for(int n) { return n / tile + (n % tile != 0); }
static size_t board_bytes(int n) { return sizeof(word) * tiles_for(n) + sizeof(int); }
size_t compact_scratch(int n) { return board_bytes(n); }
size_t unpack_scratch(int n) { return board_bytes(n); }
size_t partition_scratch(int n) { return board_bytes(n); }

static board cleared_board(int n, void *scratch)
{
    check(cudaMemsetAsync(scratch, 0, board_bytes(n)), "clearing the board");
    word *tiles = static_cast<word *>(scratch);
    return {tiles, reinterpret_cast<int *>(tiles + tiles_for(n))};
}

// A block takes its tile when it runs, so that every tile it may wait for is at work already,
// whatever the order in which blocks are started.
static __device__ int next_tile(const board &b)
{
    __shared__ int t;
    if (threadIdx.x == 0) t = atomicAdd(b.taken, 1);
    __syncthreads();
    return t;
}

// Which elements are kept.
struct positive {
    const float *in;
    __device__ bool operator()(int i) const { return in[i] > 0; }
};
struct marked {
    const unsigned char *keep;
    __device__ bool operator()(int i) const { return keep[i] != 0; }
};

// This lane's first element of tile t. The others are 32, 64, ... further on: a warp has per_thread
// rows of 32 neighbours, one below the other.
static __device__ int first_element(int t)
{
    return t * tile + threadIdx.x / 32 * per_warp + threadIdx.x % 32;
}

// Of a row or a block: how many elements are kept, and how many of those before this lane or warp.
struct counts {
    int all = 0, before = 0;
};

static __device__ counts count_row(bool keep)
{
    unsigned kept = __ballot_sync(0xffffffff, keep);
    return {__popc(kept), __popc(kept & ((1u << threadIdx.x % 32) - 1))};
}

template <class K> static __device__ counts count_block(K kept, int t, int n)
{
    __shared__ int of_warps[warps];
    counts block;
    int first = first_element(t), of_this_warp = 0, warp = threadIdx.x / 32;
    for (int k = 0; k < per_thread; ++k) {
        int i = first + 32 * k;
        of_this_warp += count_row(i < n && kept(i)).all;
    }
    if (threadIdx.x % 32 == 0) of_warps[warp] = of_this_warp;
    __syncthreads();
    for (int w = 0; w < warps; ++w) {
        block.all += of_warps[w];
        if (w < warp) block.before += of_warps[w];
    }
    return block;
}

// How many elements are kept before tile t, which keeps `count` and tells the others.
static __device__ int look_back(const board &b, int t, int count)
{
    int before = 0;
    bool more = true;
    b.tiles[t] = told(own, count);
    for (int at = t - 1; more && at >= 0; --at) {
        word w;
        do w = b.tiles[at];
        while (state_of(w) == nothing);
        before += count_of(w);
        more = state_of(w) == own;
    }
    b.tiles[t] = told(sum, before + count);
    return before;
}

// How many elements are kept before this warp's. All threads of the block take part.
template <class K> static __device__ int kept_before(K kept, const board &b, int t, int n)
{
    __shared__ int before_tile;
    counts block = count_block(kept, t, n);
    if (threadIdx.x == 0) before_tile = look_back(b, t, block.all);
    __syncthreads();
    return before_tile + block.before;
}

static __global__ void compact_tiles(const float *in, float *out, int *count, int n, board b)
{
    positive kept{in};
    int t = next_tile(b), first = first_element(t), to = kept_before(kept, b, t, n);
    for (int k = 0; k < per_thread; ++k) {
        int i = first + 32 * k;
        bool keep = i < n && kept(i);
        counts row = count_row(keep);
        if (keep) out[to + row.before] = in[i];
        to += row.all;
    }
    if (t == int(gridDim.x) - 1 && threadIdx.x == block_size - 1) *count = to;
}

void compact(const float *in, float *out, int *count, int n, void *scratch)
{
    if (n == 0) return check(cudaMemsetAsync(count, 0, sizeof(int)), "clearing the count");
    compact_tiles<<<tiles_for(n), block_size>>>(in, out, count, n, cleared_board(n, scratch));
    check(cudaPeekAtLastError(), "compact_tiles");
}

static __global__ void unpack_tiles(const float *packed, const unsigned char *keep, float *out,
                                    int n, board b)
{
    marked kept{keep};
    int t = next_tile(b), first = first_element(t), from = kept_before(kept, b, t, n);
    for (int k = 0; k < per_thread; ++k) {
        int i = first + 32 * k;
        bool here = i < n && kept(i);
        counts row = count_row(here);
        if (i < n) out[i] = here ? packed[from + row.before] : 0;
        from += row.all;
    }
}

void unpack(const float *packed, const unsigned char *keep, float *out, int n, void *scratch)
{
    if (n == 0) return;
    unpack_tiles<<<tiles_for(n), block_size>>>(packed, keep, out, n, cleared_board(n, scratch));
    check(cudaPeekAtLastError(), "unpack_tiles");
}

// The rest begins behind all that is kept, so that a first pass must find the sum of all.
static __global__ void count_tiles(const float *in, int n, board b)
{
    kept_before(positive{in}, b, next_tile(b), n);
}

static __global__ void place_both(const float *in, float *out, int *kept_count, int n, board b)
{
    positive kept{in};
    int t = blockIdx.x, first = first_element(t), all = count_of(b.tiles[gridDim.x - 1]);
    int to = count_block(kept, t, n).before + (t > 0 ? count_of(b.tiles[t - 1]) : 0);
    for (int k = 0; k < per_thread; ++k) {
        int i = first + 32 * k;
        bool keep = i < n && kept(i);
        counts row = count_row(keep);
        int before = to + row.before;
        // Of the i elements before this one, i - before are not kept.
        if (i < n) out[keep ? before : all + i - before] = in[i];
        to += row.all;
    }
    if (t == 0 && threadIdx.x == 0) *kept_count = all;
}

void partition(const float *in, float *out, int *kept_count, int n, void *scratch)
{
    if (n == 0) return check(cudaMemsetAsync(kept_count, 0, sizeof(int)), "clearing the count");
    board b = cleared_board(n, scratch);
    count_tiles<<<tiles_for(n), block_size>>>(in, n, b);
    place_both<<<tiles_for(n), block_size>>>(in, out, kept_count, n, b);
    check(cudaPeekAtLastError(), "count_tiles or place_both");
}
