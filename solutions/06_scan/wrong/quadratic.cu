// Fails: scan_inclusive: speed | TOO_SLOW | bytes moved per element
// On gpu: scan_inclusive: speed | TOO_SLOW |
// One launch, in which every block adds up all elements before its own: no element is read by many
// launches, but by many blocks.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 1024, tile = 2 * block_size;

template <class T> static __device__ T sum_up_to_lane(T x)
{
    for (int distance = 1; distance < 32; distance *= 2) {
        T left = __shfl_up_sync(0xffffffff, x, distance);
        if (int(threadIdx.x % 32) >= distance) x += left;
    }
    return x;
}

// The sum of x of this thread and those before it; `total`: of the block.
template <class T> static __device__ T sum_up_to_thread(T x, T &total)
{
    __shared__ T of_warps[32];
    __syncthreads();
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    T sum = sum_up_to_lane(x);
    if (lane == 31) of_warps[warp] = sum;
    __syncthreads();
    if (warp == 0) of_warps[lane] = sum_up_to_lane(of_warps[lane]);
    __syncthreads();
    total = of_warps[31];
    return warp > 0 ? sum + of_warps[warp - 1] : sum;
}

template <class T> static __global__ void scan_all(const T *in, T *out, int n, bool exclusive)
{
    int first = blockIdx.x * tile;
    T own = 0, before;
    for (int i = threadIdx.x; i < first; i += block_size) own += in[i];
    sum_up_to_thread(own, before);
    for (int half = first; half < first + tile; half += block_size) {
        int i = half + threadIdx.x;
        T x = i < n ? in[i] : T(0), total, sum = sum_up_to_thread(x, total);
        T left = __shfl_up_sync(0xffffffff, sum, 1);
        if (exclusive && threadIdx.x % 32 == 0) left = sum - x;
        if (i < n) out[i] = before + (exclusive ? left : sum);
        before += total;
    }
}

template <class T> static void scan(const T *in, T *out, int n, bool exclusive = false)
{
    if (n > 0) scan_all<<<(n + tile - 1) / tile, block_size>>>(in, out, n, exclusive);
}

void scan_block_inclusive(const int *in, int *out, int n) { scan(in, out, n); }
void scan_block_exclusive(const int *in, int *out, int n) { scan(in, out, n, true); }
size_t scan_inclusive_scratch(int) { return 0; }
void scan_inclusive(const int *in, int *out, int n, void *) { scan(in, out, n); }
size_t scan_exclusive_scratch(int) { return 0; }
void scan_exclusive(const int *in, int *out, int n, void *) { scan(in, out, n, true); }
size_t scan_inclusive_int64_scratch(int) { return 0; }
void scan_inclusive_int64(const std::int64_t *in, std::int64_t *out, int n, void *)
{
    scan(in, out, n);
}
size_t scan_inclusive_float_scratch(int) { return 0; }
void scan_inclusive_float(const float *in, float *out, int n, void *) { scan(in, out, n); }
