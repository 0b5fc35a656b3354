// Right: One pass for all three: a count and its kind in one 64-bit word, published and read by
// relaxed cuda::atomic_ref; a warp looks back 32 tiles per step; C++20 concepts say what keeps and
// what places.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda/atomic>
#include <cuda_runtime.h>

#include <algorithm>
#include <concepts>
#include <cstdint>

constexpr int threads = 256, warps = threads / 32, rows = 16, tile_size = threads * rows;
constexpr std::uint64_t own_count = 1ull << 32, sum_of_all = 2ull << 32;

static int tiles_for(int n) { return (n + tile_size - 1) / tile_size; }

struct tile_word {
    std::uint64_t *at;
    using ref = cuda::atomic_ref<std::uint64_t, cuda::thread_scope_device>;
    // A word is a whole message, so there is nothing else to order by it: relaxed.
    __device__ void tell(std::uint64_t kind, int count) const
    {
        ref(*at).store(kind | unsigned(count), cuda::memory_order_relaxed);
    }
    __device__ std::uint64_t wait() const
    {
        std::uint64_t word;
        while ((word = ref(*at).load(cuda::memory_order_relaxed)) == 0) {
        }
        return word;
    }
};

// By all lanes of a warp.
static __device__ int look_back(std::uint64_t *board, int tile)
{
    const int lane = threadIdx.x % 32;
    int before = 0;
    for (int nearest = tile - 1; nearest >= 0; nearest -= 32) {
        std::uint64_t word =
            nearest >= lane ? tile_word{board + nearest - lane}.wait() : sum_of_all;
        __syncwarp();
        unsigned complete = __ballot_sync(~0u, word >= sum_of_all);
        int last = complete ? __ffs(complete) - 1 : 31;
        before += __reduce_add_sync(~0u, lane <= last ? unsigned(word) : 0u);
        if (complete) break;
    }
    return before;
}

template <class F>
concept chooser = requires(F f, int i)
{
    f.load(i);
    f.kept(f.load(i));
    f.place(i, f.load(i), true, i);
};

// What is loaded stays in registers until its place is known.
template <chooser F> static __global__ void __launch_bounds__(threads)
    place_all(F f, int n, unsigned *ticket, std::uint64_t *board, int *total)
{
    __shared__ int tile, of_warps[warps], before_tile;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
    __syncthreads();
    const int first = tile * tile_size + warp * rows * 32 + lane;
    decltype(f.load(0)) x[rows];
    unsigned votes[rows];
    int count = 0;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        const int i = first + 32 * r;
        x[r] = i < n ? f.load(i) : 0;
        votes[r] = __ballot_sync(~0u, i < n && f.kept(x[r]));
        count += __popc(votes[r]);
    }
    if (lane == 0) of_warps[warp] = count;
    __syncthreads();
    if (warp == 0) {
        const int all = __reduce_add_sync(~0u, lane < warps ? of_warps[lane] : 0);
        tile_word mine{board + tile};
        if (lane == 0) mine.tell(own_count, all);
        const int before = look_back(board, tile);
        if (lane == 0) {
            mine.tell(sum_of_all, before + all);
            before_tile = before;
            if (total != nullptr && tile == gridDim.x - 1) *total = before + all;
        }
    }
    __syncthreads();
    int before = before_tile;
    for (int w = 0; w < warp; ++w) before += of_warps[w];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        const int i = first + 32 * r;
        if (i < n)
            f.place(i, x[r], votes[r] >> lane & 1, before + __popc(votes[r] & ((1u << lane) - 1)));
        before += __popc(votes[r]);
    }
}

template <chooser F> static void run(F f, int n, void *scratch, int *total)
{
    if (n == 0) return;
    const int tiles = tiles_for(n);
    check(cudaMemsetAsync(scratch, 0, 256 + sizeof(std::uint64_t) * tiles), "clearing the board");
    place_all<<<tiles, threads>>>(f, n, static_cast<unsigned *>(scratch),
                                  static_cast<std::uint64_t *>(scratch) + 32, total);
    check_launch("place_all");
}

struct packing {
    const float *in;
    float *out;
    __device__ float load(int i) const { return in[i]; }
    __device__ bool kept(float x) const { return x > 0; }
    __device__ void place(int, float x, bool keep, int before) const
    {
        if (keep) out[before] = x;
    }
};
struct unpacking {
    const float *packed;
    const unsigned char *keep;
    float *out;
    __device__ int load(int i) const { return keep[i]; }
    __device__ bool kept(int mark) const { return mark != 0; }
    __device__ void place(int i, int, bool keep, int before) const
    {
        out[i] = keep ? packed[before] : 0;
    }
};
struct parting : packing {
    const int *kept_count;
    __device__ void place(int i, float x, bool keep, int before) const
    {
        out[keep ? before : *kept_count + i - before] = x;
    }
};

// partition must know how many are kept before the first of the others can go to its place.
static __global__ void count_positive(const float *in, int n, int *count)
{
    int mine = 0;
    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine += in[i] > 0;
    mine = __reduce_add_sync(~0u, mine);
    if (threadIdx.x % 32 == 0) atomicAdd(count, mine);
}

size_t compact_scratch(int n) { return 256 + sizeof(std::uint64_t) * tiles_for(n); }
size_t unpack_scratch(int n) { return 256 + sizeof(std::uint64_t) * tiles_for(n); }
size_t partition_scratch(int n) { return 256 + sizeof(std::uint64_t) * tiles_for(n); }

void compact(const float *in, float *out, int *count, int n, void *scratch)
{
    check(cudaMemsetAsync(count, 0, sizeof *count), "clearing the count");
    run(packing{in, out}, n, scratch, count);
}
void unpack(const float *packed, const unsigned char *keep, float *out, int n, void *scratch)
{
    run(unpacking{packed, keep, out}, n, scratch, nullptr);
}
void partition(const float *in, float *out, int *kept_count, int n, void *scratch)
{
    check(cudaMemsetAsync(kept_count, 0, sizeof *kept_count), "clearing the count");
    if (n == 0) return;
    count_positive<<<std::min(tiles_for(n), 1056), threads>>>(in, n, kept_count);
    check_launch("count_positive");
    run(parting{{in, out}, kept_count}, n, scratch, nullptr);
}
