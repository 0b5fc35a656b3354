// Right: partition is two packings at once, in two streams that fork and join by events: what is
// kept from the front, the rest from the back, by a look-back that goes the other way; each reads
// the elements once.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int lanes = 32, warps = 16, rows = 8, tile_size = lanes * warps * rows;

static int tiles_for(int n) { return (n + tile_size - 1) / tile_size; }

// RAII, and errors as exceptions; what still runs when they go is finished all the same.
struct side_stream {
    cudaStream_t stream = nullptr;
    cudaEvent_t fork = nullptr, join = nullptr;
    side_stream()
    {
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
        check(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming), "an event");
        check(cudaEventCreateWithFlags(&join, cudaEventDisableTiming), "an event");
    }
    ~side_stream()
    {
        cudaEventDestroy(join);
        cudaEventDestroy(fork);
        cudaStreamDestroy(stream);
    }
    side_stream(const side_stream &) = delete;
    side_stream &operator=(const side_stream &) = delete;
};

struct board {
    unsigned *ticket;
    volatile unsigned long long *told; // kind << 32 | count

    __device__ void tell(int place, unsigned kind, int count) const
    {
        told[place] = (unsigned long long)kind << 32 | unsigned(count);
    }
    __device__ int look_back(int place) const
    {
        int before = 0;
        while (--place >= 0) {
            unsigned long long word;
            do word = told[place];
            while (word == 0);
            before += unsigned(word);
            if (word >> 32 == 2) break;
        }
        return before;
    }
};

// threadIdx.x is the lane, threadIdx.y the warp. Places count from the front, or, `backwards`, from
// the back: tiles, warps, rows and lanes then go from the last to the first.
template <bool backwards, class Chosen, class Place>
static __device__ void go_over(int n, board b, int *total, Chosen chosen, Place place)
{
    __shared__ int tile, of_warps[warps], before_tile;
    const int lane = threadIdx.x, warp = threadIdx.y;
    if (lane == 0 && warp == 0) tile = atomicAdd(b.ticket, 1);
    __syncthreads();
    const int first = (tile * warps + warp) * rows * lanes + lane;
    // Element number k in our direction.
    auto element = [&](int r) {
        return backwards ? n - 1 - (first + r * lanes) : first + r * lanes;
    };
    unsigned votes[rows];
    float x[rows];
    int count = 0;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        const bool there = first + r * lanes < n;
        votes[r] = __ballot_sync(~0u, there && chosen(element(r), x[r]));
        count += __popc(votes[r]);
    }
    if (lane == 0) of_warps[warp] = count;
    __syncthreads();
    if (lane == 0 && warp == 0) {
        int all = 0;
        for (int of_warp : of_warps) all += of_warp;
        b.tell(tile, 1, all);
        before_tile = b.look_back(tile);
        b.tell(tile, 2, before_tile + all);
        if (total && tile == gridDim.x - 1) *total = before_tile + all;
    }
    __syncthreads();
    int before = before_tile;
    for (int w = 0; w < warp; ++w) before += of_warps[w];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        const bool mine = votes[r] >> lane & 1;
        if (first + r * lanes < n)
            place(element(r), x[r], mine, before + __popc(votes[r] & ~(~0u << lane)));
        before += __popc(votes[r]);
    }
}

static __global__ void pack_front(const float *in, float *out, int n, board b, int *total)
{
    auto positive = [=](int i, float &x) { return (x = in[i]) > 0; };
    go_over<false>(n, b, total, positive, [=](int, float x, bool mine, int place) {
        if (mine) out[place] = x;
    });
}
static __global__ void pack_back(const float *in, float *out, int n, board b)
{
    // Not "x <= 0": NaN is one of the rest.
    auto other = [=](int i, float &x) { return !((x = in[i]) > 0); };
    go_over<true>(n, b, nullptr, other, [=](int, float x, bool mine, int place) {
        if (mine) out[n - 1 - place] = x;
    });
}
static __global__ void unpack_all(const float *packed, const unsigned char *keep, float *out, int n,
                                  board b)
{
    auto marked = [=](int i, float &) { return keep[i] != 0; };
    go_over<false>(n, b, nullptr, marked,
                   [=](int i, float, bool mine, int place) { out[i] = mine ? packed[place] : 0; });
}

constexpr dim3 block(lanes, warps);
static size_t bytes_for(int n) { return (8 * tiles_for(n) + 8 + 255) / 256 * 256; }
static board cleared(void *scratch, int n)
{
    check(cudaMemsetAsync(scratch, 0, bytes_for(n)), "clearing the board");
    auto *words = static_cast<unsigned long long *>(scratch);
    return {reinterpret_cast<unsigned *>(words), words + 1};
}

size_t compact_scratch(int n) { return bytes_for(n); }
size_t unpack_scratch(int n) { return bytes_for(n); }
size_t partition_scratch(int n) { return 2 * bytes_for(n); }

void compact(const float *in, float *out, int *count, int n, void *scratch)
{
    if (n == 0) return check(cudaMemsetAsync(count, 0, sizeof *count), "count");
    pack_front<<<tiles_for(n), block>>>(in, out, n, cleared(scratch, n), count);
    check_launch("pack_front");
}
void unpack(const float *packed, const unsigned char *keep, float *out, int n, void *scratch)
{
    if (n == 0) return;
    unpack_all<<<tiles_for(n), block>>>(packed, keep, out, n, cleared(scratch, n));
    check_launch("unpack_all");
}
void partition(const float *in, float *out, int *kept_count, int n, void *scratch)
{
    if (n == 0) return check(cudaMemsetAsync(kept_count, 0, sizeof *kept_count), "count");
    board front = cleared(scratch, n),
          back = cleared(static_cast<char *>(scratch) + bytes_for(n), n);
    side_stream side;
    check(cudaEventRecord(side.fork), "fork");
    check(cudaStreamWaitEvent(side.stream, side.fork), "fork");
    pack_front<<<tiles_for(n), block>>>(in, out, n, front, kept_count);
    check_launch("pack_front");
    pack_back<<<tiles_for(n), block, 0, side.stream>>>(in, out, n, back);
    check_launch("pack_back");
    check(cudaEventRecord(side.join, side.stream), "join");
    check(cudaStreamWaitEvent(nullptr, side.join), "join");
}
