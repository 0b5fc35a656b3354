// Fails: compact: blocks in any order | TIMEOUT | Blocks may begin in any order
// On gpu: compact: speed, half kept | TOO_SLOW | Where does the time go
// A block packs the tile of its blockIdx.x, and waits for a block that may not have begun. A GPU
// begins blocks in the order of blockIdx, which nobody promises.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 256, warps = block_size / 32;
constexpr int rows = 8, per_warp = 32 * rows, tile = block_size * rows;
constexpr unsigned all_lanes = 0xffffffff;

static int tiles_for(int n) { return n / tile + (n % tile != 0); }

struct positive {
    const float *in;
    __device__ bool operator()(int i) const { return in[i] > 0; }
};
struct marked {
    const unsigned char *keep;
    __device__ bool operator()(int i) const { return keep[i] != 0; }
};

// This lane's first element; the others are 32, 64, ... further on.
static __device__ int first_element()
{
    return blockIdx.x * tile + threadIdx.x / 32 * per_warp + threadIdx.x % 32;
}

static __device__ int before_in_row(unsigned votes)
{
    return __popc(votes & ((1u << threadIdx.x % 32) - 1));
}

// How many elements are kept before this warp's. prefixes[t]: how many up to the end of tile t, and
// 1 more, so that 0 says that nobody knows yet; one word, so that nobody sees half of it.
template <class K>
static __device__ int kept_before(K kept, int n, unsigned (&votes)[rows], volatile int *prefixes)
{
    __shared__ int counts[warps], before_tile;
    const int warp = threadIdx.x / 32;
    int count = 0;
    for (int k = 0; k < rows; ++k) {
        const int i = first_element() + 32 * k;
        votes[k] = __ballot_sync(all_lanes, i < n && kept(i));
        count += __popc(votes[k]);
    }
    if (threadIdx.x % 32 == 0) counts[warp] = count;
    __syncthreads();
    int before = 0, all = 0;
    for (int w = 0; w < warps; ++w) {
        if (w < warp) before += counts[w];
        all += counts[w];
    }
    if (threadIdx.x == 0) {
        int known = 1;
        if (blockIdx.x > 0)
            while ((known = prefixes[blockIdx.x - 1]) == 0) __nanosleep(50);
        prefixes[blockIdx.x] = known + all;
        before_tile = known - 1;
    }
    __syncthreads();
    return before_tile + before;
}

static __global__ void pack_tiles(const float *in, float *out, int *count, int n,
                                  volatile int *prefixes)
{
    unsigned votes[rows];
    int to = kept_before(positive{in}, n, votes, prefixes);
    for (int k = 0; k < rows; ++k) {
        if (votes[k] >> threadIdx.x % 32 & 1)
            out[to + before_in_row(votes[k])] = in[first_element() + 32 * k];
        to += __popc(votes[k]);
    }
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == block_size - 1) *count = to;
}

static __global__ void unpack_tiles(const float *packed, const unsigned char *keep, float *out,
                                    int n, volatile int *prefixes)
{
    unsigned votes[rows];
    int from = kept_before(marked{keep}, n, votes, prefixes);
    for (int k = 0; k < rows; ++k) {
        const int i = first_element() + 32 * k;
        const bool kept = votes[k] >> threadIdx.x % 32 & 1;
        if (i < n) out[i] = kept ? packed[from + before_in_row(votes[k])] : 0;
        from += __popc(votes[k]);
    }
}

static __global__ void count_tiles(const float *in, int n, volatile int *prefixes)
{
    unsigned votes[rows];
    kept_before(positive{in}, n, votes, prefixes);
}

// With every tile's prefix known, no tile waits.
static __global__ void place_tiles(const float *in, float *out, int *kept_count, int n,
                                   const int *prefixes)
{
    __shared__ int counts[warps];
    unsigned votes[rows];
    float x[rows];
    int count = 0;
    for (int k = 0; k < rows; ++k) {
        const int i = first_element() + 32 * k;
        x[k] = i < n ? in[i] : 0;
        votes[k] = __ballot_sync(all_lanes, x[k] > 0);
        count += __popc(votes[k]);
    }
    if (threadIdx.x % 32 == 0) counts[threadIdx.x / 32] = count;
    __syncthreads();
    int before = blockIdx.x > 0 ? prefixes[blockIdx.x - 1] - 1 : 0;
    for (int w = 0; w < threadIdx.x / 32; ++w) before += counts[w];
    const int all = prefixes[gridDim.x - 1] - 1;
    for (int k = 0; k < rows; ++k) {
        const int i = first_element() + 32 * k, place = before + before_in_row(votes[k]);
        if (i < n) out[x[k] > 0 ? place : all + i - place] = x[k];
        before += __popc(votes[k]);
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) *kept_count = all;
}

static size_t bytes_for(int n) { return sizeof(int) * tiles_for(n); }

static int *cleared_prefixes(int n, void *scratch)
{
    cudaMemsetAsync(scratch, 0, bytes_for(n));
    return static_cast<int *>(scratch);
}

size_t compact_scratch(int n) { return bytes_for(n); }
void compact(const float *in, float *out, int *count, int n, void *scratch)
{
    cudaMemsetAsync(count, 0, sizeof(int));
    if (n == 0) return;
    int *prefixes = cleared_prefixes(n, scratch);
    pack_tiles<<<tiles_for(n), block_size>>>(in, out, count, n, prefixes);
}

size_t unpack_scratch(int n) { return bytes_for(n); }
void unpack(const float *packed, const unsigned char *keep, float *out, int n, void *scratch)
{
    if (n == 0) return;
    int *prefixes = cleared_prefixes(n, scratch);
    unpack_tiles<<<tiles_for(n), block_size>>>(packed, keep, out, n, prefixes);
}

size_t partition_scratch(int n) { return bytes_for(n); }
void partition(const float *in, float *out, int *kept_count, int n, void *scratch)
{
    cudaMemsetAsync(kept_count, 0, sizeof(int));
    if (n == 0) return;
    int *prefixes = cleared_prefixes(n, scratch);
    count_tiles<<<tiles_for(n), block_size>>>(in, n, prefixes);
    place_tiles<<<tiles_for(n), block_size>>>(in, out, kept_count, n, prefixes);
}
