// Right: quicksort_recursive launches each side into a stream that the kernel makes; keys equal to
// the pivot go to both sides in turn, and the last part is sorted by ranks in shared memory.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int threads = 128, small_part = 384;
constexpr unsigned all_lanes = 0xffffffff;

// Equal keys that stand before key i count, too.
static __device__ int rank_of(const unsigned *keys, int n, int i)
{
    int rank = 0;
    for (int k = 0; k < i; ++k) rank += keys[k] <= keys[i];
    for (int k = i + 1; k < n; ++k) rank += keys[k] < keys[i];
    return rank;
}

static __device__ void sort_alone(unsigned *keys, unsigned *scratch, int n)
{
    __shared__ unsigned copy[small_part];
    unsigned *from = n <= small_part ? copy : scratch;
    for (int i = threadIdx.x; i < n; i += threads) from[i] = keys[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += threads) keys[rank_of(from, n, i)] = from[i];
    __syncthreads();
}

static __global__ void sort_part(unsigned *keys, unsigned *scratch, int n);

static __device__ bool launched(unsigned *keys, unsigned *scratch, int n)
{
    if (n <= small_part) return false;
    cudaStream_t stream;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) {
        cudaGetLastError();
        return false;
    }
    sort_part<<<1, threads, 0, stream>>>(keys, scratch, n);
    bool taken = cudaGetLastError() == cudaSuccess;
    cudaStreamDestroy(stream);
    return taken;
}

// Each warp counts its votes, then reserves its places with one atomic on either end.
static __global__ void sort_part(unsigned *keys, unsigned *scratch, int n)
{
    if (n <= small_part) return sort_alone(keys, scratch, n);
    __shared__ int front, back;
    __shared__ bool left, right;
    if (threadIdx.x == 0) front = back = 0;
    __syncthreads();
    unsigned pivot = keys[__umulhi(n * 2654435761u, n)];
    int lane = threadIdx.x % 32;
    for (int first = threadIdx.x - lane; first < n; first += threads) {
        int i = first + lane;
        unsigned key = i < n ? keys[i] : 0;
        bool smaller = key < pivot || (key == pivot && i % 2 == 0);
        unsigned s = __ballot_sync(all_lanes, i < n && smaller);
        unsigned g = __ballot_sync(all_lanes, i < n && !smaller);
        int at = 0, behind = 0;
        if (lane == 0) at = atomicAdd(&front, __popc(s)), behind = atomicAdd(&back, __popc(g));
        at = __shfl_sync(all_lanes, at, 0), behind = __shfl_sync(all_lanes, behind, 0);
        unsigned below = (1u << lane) - 1;
        if (i < n)
            scratch[smaller ? at + __popc(s & below) : n - 1 - behind - __popc(g & below)] = key;
    }
    __syncthreads();
    int m = front;
    for (int i = threadIdx.x; i < n; i += threads) keys[i] = scratch[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        left = launched(keys, scratch, m);
        right = launched(keys + m, scratch + m, n - m);
    }
    __syncthreads();
    if (!left) sort_alone(keys, scratch, m);
    if (!right) sort_alone(keys + m, scratch + m, n - m);
}

size_t quicksort_recursive_scratch(int n) { return sizeof(unsigned) * n; }

void quicksort_recursive(unsigned *data, int n, void *scratch)
{
    if (n > 1) sort_part<<<1, threads>>>(data, static_cast<unsigned *>(scratch), n);
    check_launch("sort_part");
}

size_t quicksort_scratch(int) { return 0; }

void quicksort(unsigned *, int, void *) {}
