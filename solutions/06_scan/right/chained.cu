// Right: one launch, in which each block waits for the prefix of the tile before it. One thread
// waits, and the other lanes of its warp have nothing to do meanwhile.
// Schedules: late random
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 1024, most = 2048, pairs = most / 2;

static int blocks_for(int n) { return n / block_size + (n % block_size != 0); }

// What comes of the elements of a warp or a block, for one thread.
template <class T> struct sums_of {
    T before, up_to; // without this thread's x and with it
};

template <class T> static __device__ sums_of<T> scan_in_warp(T x)
{
    int lane = threadIdx.x % 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        T left = __shfl_up_sync(0xffffffff, x, distance);
        if (lane >= distance) x = left + x;
    }
    T left = __shfl_up_sync(0xffffffff, x, 1);
    return {lane > 0 ? left : T(0), x};
}

template <class T> static __device__ sums_of<T> scan_in_block(T x)
{
    __shared__ T before[32]; // a sum a warp, then what lies before each
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    sums_of<T> sums = scan_in_warp(x);
    if (lane == 31) before[warp] = sums.up_to;
    __syncthreads();
    if (warp == 0) before[lane] = scan_in_warp(before[lane]).before; // 32 warps, 32 lanes
    __syncthreads();
    return {before[warp] + sums.before, before[warp] + sums.up_to};
}

// One block, two neighbours a thread.
template <bool inclusive> static __global__ void scan_pairs(const int *in, int *out, int n)
{
    int i = 2 * threadIdx.x, k = i + 1;
    int x = i < n ? in[i] : 0, y = k < n ? in[k] : 0, before = scan_in_block(x + y).before;
    if (i < n) out[i] = inclusive ? before + x : before;
    if (k < n) out[k] = inclusive ? before + x + y : before + x;
}

void scan_block_inclusive(const int *in, int *out, int n)
{
    scan_pairs<true><<<1, pairs>>>(in, out, n);
    check_launch("scan_pairs");
}

void scan_block_exclusive(const int *in, int *out, int n)
{
    scan_pairs<false><<<1, pairs>>>(in, out, n);
    check_launch("scan_pairs");
}

// Of a tile: the sum of everything up to its end, and whether it is there yet.
template <class T> struct inclusive_prefix {
    T value;
    unsigned known;
};

template <bool inclusive, class T>
static __global__ void scan_chained(const T *in, T *out, int n, unsigned *tiles_taken,
                                    volatile inclusive_prefix<T> *prefixes)
{
    __shared__ unsigned taken;
    __shared__ T before_tile;
    if (threadIdx.x == 0) taken = atomicAdd(tiles_taken, 1); // tiles before it have been taken
    __syncthreads();
    const int tile = taken, i = tile * block_size + threadIdx.x;
    sums_of<T> sums = scan_in_block(i < n ? in[i] : T(0));
    if (threadIdx.x == block_size - 1) {
        T before = 0;
        if (tile > 0) {
            while (prefixes[tile - 1].known == 0) {
            }
            __threadfence();
            before = prefixes[tile - 1].value;
        }
        before_tile = before;
        prefixes[tile].value = before + sums.up_to;
        __threadfence();
        prefixes[tile].known = 1;
    }
    __syncthreads();
    if (i < n) out[i] = before_tile + (inclusive ? sums.up_to : sums.before);
}

constexpr size_t room_for_count = 16;

template <class T> static size_t scratch_for(int n)
{
    return room_for_count + sizeof(inclusive_prefix<T>) * blocks_for(n);
}

template <bool inclusive, class T> static void scan(const T *in, T *out, int n, void *scratch)
{
    if (n == 0) return;
    check(cudaMemsetAsync(scratch, 0, scratch_for<T>(n)), "clearing the prefixes");
    void *prefixes = static_cast<char *>(scratch) + room_for_count;
    scan_chained<inclusive><<<blocks_for(n), block_size>>>(
        in, out, n, static_cast<unsigned *>(scratch), static_cast<inclusive_prefix<T> *>(prefixes));
    check_launch("scan_chained");
}

size_t scan_inclusive_scratch(int n) { return scratch_for<int>(n); }
size_t scan_exclusive_scratch(int n) { return scratch_for<int>(n); }
size_t scan_inclusive_int64_scratch(int n) { return scratch_for<std::int64_t>(n); }
size_t scan_inclusive_float_scratch(int n) { return scratch_for<float>(n); }

void scan_inclusive(const int *in, int *out, int n, void *scratch)
{
    scan<true>(in, out, n, scratch);
}

void scan_exclusive(const int *in, int *out, int n, void *scratch)
{
    scan<false>(in, out, n, scratch);
}

void scan_inclusive_int64(const std::int64_t *in, std::int64_t *out, int n, void *scratch)
{
    scan<true>(in, out, n, scratch);
}

void scan_inclusive_float(const float *in, float *out, int n, void *scratch)
{
    scan<true>(in, out, n, scratch);
}
