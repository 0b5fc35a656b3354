// Fails: compact: speed, half kept | TOO_SLOW | One block does nearly all
// On gpu: compact: speed, half kept | TOO_SLOW |
// One block goes through the array, tile by tile: each element moves once.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int block_size = 1024;

static __global__ void compact_all(const float *in, float *out, int *count, int n)
{
    __shared__ int of_warps[block_size / 32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, before = 0;
    for (int first = 0; first < n; first += block_size) {
        int i = first + threadIdx.x;
        float x = i < n ? in[i] : 0;
        unsigned who = __ballot_sync(0xffffffff, x > 0);
        if (lane == 0) of_warps[warp] = __popc(who);
        __syncthreads();
        int place = before + __popc(who & ((1u << lane) - 1));
        for (int w = 0; w < block_size / 32; ++w) {
            if (w < warp) place += of_warps[w];
            before += of_warps[w];
        }
        if (x > 0) out[place] = x;
        __syncthreads();
    }
    if (threadIdx.x == 0) *count = before;
}

size_t compact_scratch(int) { return 0; }
void compact(const float *in, float *out, int *count, int n, void *)
{
    compact_all<<<1, block_size>>>(in, out, count, n);
}

// Not begun.
size_t unpack_scratch(int) { return 0; }
void unpack(const float *, const unsigned char *, float *, int, void *) {}
size_t partition_scratch(int) { return 0; }
void partition(const float *, float *, int *, int, void *) {}
