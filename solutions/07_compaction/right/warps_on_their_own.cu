// Right: Every warp is on its own: it takes a tile of 1024 elements by one atomic, looks back with
// all its lanes and never meets a barrier; a lane keeps one row's votes, elements wait in dynamic
// shared memory.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda/std/cstdint>
#include <cuda_runtime.h>

constexpr int warps = 6, threads = 32 * warps, tile_size = 32 * 32;
constexpr unsigned everyone = 0xffffffff;
using word = cuda::std::uint64_t;

static __host__ __device__ constexpr int tiles_for(int n)
{
    return (n + tile_size - 1) / tile_size;
}

static __device__ word load(const word *at)
{
    word w;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(w) : "l"(at));
    return w;
}
static __device__ void tell(word *at, unsigned kind, unsigned count)
{
    asm volatile("{.reg .b64 w; mov.b64 w, {%1, %2}; st.relaxed.gpu.global.b64 [%0], w;}" ::"l"(at),
                 "r"(count), "r"(kind)
                 : "memory");
}
static __device__ unsigned lanes_below()
{
    unsigned mask;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
}

static __device__ int inclusive_in_warp(int x)
{
    const unsigned lane = threadIdx.x % 32;
    for (unsigned d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(everyone, x, d);
        if (lane >= d) x += left;
    }
    return x;
}

static __device__ int look_back(const word *board, int tile)
{
    const int lane = threadIdx.x % 32;
    int before = 0;
    for (int nearest = tile - 1; nearest >= 0; nearest -= 32) {
        word w = 2ull << 32; // before the first tile
        if (nearest - lane >= 0) do
                w = load(board + nearest - lane);
            while (w == 0);
        __syncwarp();
        const unsigned complete = __ballot_sync(everyone, w >> 32 == 2);
        const bool counts = (complete & lanes_below()) == 0; // no complete sum is nearer
        before += __reduce_add_sync(everyone, counts ? unsigned(w) : 0);
        if (complete != 0) return before;
    }
    return before;
}

// What a warp finds out: lane r holds the votes of row r and where that row's kept elements begin.
struct rows_of_tile {
    int tile;
    unsigned votes;
    int start, kept_before_tile, kept;
};

template <class Kept> static __device__ rows_of_tile find_rows(int n, unsigned *ticket, word *board,
                                                               int *total, Kept kept)
{
    const int lane = threadIdx.x % 32;
    rows_of_tile mine{};
    if (lane == 0) mine.tile = atomicAdd(ticket, 1);
    mine.tile = __shfl_sync(everyone, mine.tile, 0);
    if (mine.tile >= tiles_for(n)) return mine; // the last block has warps without a tile
    for (int r = 0; r < 32; ++r) {
        const int i = mine.tile * tile_size + r * 32 + lane;
        const unsigned votes = __ballot_sync(everyone, i < n && kept(i, r * 32 + lane));
        if (r == lane) mine.votes = votes;
    }
    const int upto = inclusive_in_warp(__popc(mine.votes));
    mine.kept = __shfl_sync(everyone, upto, 31);
    if (lane == 0) tell(board + mine.tile, 1, mine.kept);
    mine.kept_before_tile = look_back(board, mine.tile);
    if (lane == 0) {
        tell(board + mine.tile, 2, mine.kept_before_tile + mine.kept);
        if (total && mine.tile == tiles_for(n) - 1) *total = mine.kept_before_tile + mine.kept;
    }
    mine.start = mine.kept_before_tile + upto - __popc(mine.votes);
    return mine;
}

// Calls f(element, its place in the tile, is it kept?, how many kept ones lie before it).
template <class F> static __device__ void for_rows(const rows_of_tile &mine, int n, F f)
{
    const int lane = threadIdx.x % 32, base = mine.tile * tile_size;
    for (int r = 0; r < 32 && base + r * 32 < n; ++r) {
        const unsigned votes = __shfl_sync(everyone, mine.votes, r);
        const int start = __shfl_sync(everyone, mine.start, r), k = r * 32 + lane;
        if (base + k < n) f(base + k, k, votes >> lane & 1, start + __popc(votes & lanes_below()));
    }
}

extern __shared__ float elements[]; // tile_size a warp

// With `all_kept` what is not kept goes behind so many.
static __global__ void __launch_bounds__(threads)
    pack(const float *in, float *out, int n, unsigned *ticket, word *board, int *total,
         const int *all_kept)
{
    float *x = elements + threadIdx.x / 32 * tile_size;
    // A lane reads only what it has stored: no barrier, not even of the warp.
    const auto mine =
        find_rows(n, ticket, board, total, [&](int i, int k) { return (x[k] = in[i]) > 0; });
    if (mine.tile >= tiles_for(n)) return;
    for_rows(mine, n, [&](int i, int k, bool keep, int before) {
        if (keep)
            out[before] = x[k];
        else if (all_kept)
            out[*all_kept + i - before] = x[k];
    });
}

static __global__ void __launch_bounds__(threads)
    spread(const float *packed, const unsigned char *keep, float *out, int n, unsigned *ticket,
           word *board)
{
    const auto mine =
        find_rows(n, ticket, board, nullptr, [&](int i, int) { return keep[i] != 0; });
    if (mine.tile >= tiles_for(n)) return;
    for_rows(mine, n,
             [&](int i, int, bool kept, int before) { out[i] = kept ? packed[before] : 0; });
}

static __global__ void count_positive(const float *in, int n, int *count)
{
    const int first = blockIdx.x * warps * tile_size, last = min(first + warps * tile_size, n);
    int mine = 0;
    for (int i = first + threadIdx.x; i < last; i += threads) mine += in[i] > 0;
    mine = inclusive_in_warp(mine);
    if (threadIdx.x % 32 == 31 && mine > 0) atomicAdd(count, mine);
}

static size_t bytes_for(int n) { return sizeof(word) * (tiles_for(n) + 1); }
size_t compact_scratch(int n) { return bytes_for(n); }
size_t unpack_scratch(int n) { return bytes_for(n); }
size_t partition_scratch(int n) { return bytes_for(n); }

static int blocks_for(int n) { return (tiles_for(n) + warps - 1) / warps; }
constexpr size_t shared_bytes = sizeof(float) * warps * tile_size;

static void run_pack(const float *in, float *out, int n, void *scratch, int *total, const int *kept)
{
    check(cudaMemsetAsync(scratch, 0, bytes_for(n)), "clearing the board");
    pack<<<blocks_for(n), threads, shared_bytes>>>(in, out, n, static_cast<unsigned *>(scratch),
                                                   static_cast<word *>(scratch) + 1, total, kept);
    check_launch("pack");
}

void compact(const float *in, float *out, int *count, int n, void *scratch)
{
    check(cudaMemsetAsync(count, 0, sizeof *count), "clearing the count");
    if (n > 0) run_pack(in, out, n, scratch, count, nullptr);
}
void unpack(const float *packed, const unsigned char *keep, float *out, int n, void *scratch)
{
    if (n == 0) return;
    check(cudaMemsetAsync(scratch, 0, bytes_for(n)), "clearing the board");
    spread<<<blocks_for(n), threads>>>(packed, keep, out, n, static_cast<unsigned *>(scratch),
                                       static_cast<word *>(scratch) + 1);
    check_launch("spread");
}
void partition(const float *in, float *out, int *kept_count, int n, void *scratch)
{
    check(cudaMemsetAsync(kept_count, 0, sizeof *kept_count), "clearing the count");
    if (n == 0) return;
    count_positive<<<blocks_for(n), threads>>>(in, n, kept_count);
    check_launch("count_positive");
    run_pack(in, out, n, scratch, nullptr, kept_count);
}
