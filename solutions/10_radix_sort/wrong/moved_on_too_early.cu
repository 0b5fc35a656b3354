// Fails: radix_sort: random keys | RACE | `next
// On gpu: may pass - the lanes of a warp mostly go side by side
// One of the peers moves `next` on, and nothing makes it wait until the others have read it.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int digits = 256;
constexpr unsigned all_lanes = 0xffffffff;

// One warp sorts everything by one digit.
static __global__ void sort_digit(const unsigned *keys, unsigned *to, int n, int shift)
{
    __shared__ int next[digits];
    int lane = threadIdx.x, before = 0;
    for (int d = lane; d < digits; d += 32) next[d] = 0;
    __syncwarp();
    for (int i = lane; i < n; i += 32) atomicAdd(&next[keys[i] >> shift & (digits - 1)], 1);
    __syncwarp();
    for (int d = 0; d < digits && lane == 0; ++d) {
        int count = next[d];
        next[d] = before;
        before += count;
    }
    __syncwarp();
    for (int first = 0; first < n; first += 32) {
        unsigned key = first + lane < n ? keys[first + lane] : all_lanes;
        unsigned digit = key >> shift & (digits - 1), peers = __match_any_sync(all_lanes, digit);
        unsigned below = peers & ((1u << lane) - 1);
        int place = next[digit] + __popc(below);
        if (below == 0) next[digit] += __popc(peers);
        __syncwarp();
        if (first + lane < n) to[place] = key;
    }
}

size_t radix_sort_scratch(int n) { return sizeof(unsigned) * n; }
void radix_sort(unsigned *keys, int n, void *scratch)
{
    unsigned *other = static_cast<unsigned *>(scratch);
    for (int shift = 0; shift < 32; shift += 16) {
        sort_digit<<<1, 32>>>(keys, other, n, shift);
        sort_digit<<<1, 32>>>(other, keys, n, shift + 8);
    }
}

void sort_warps(unsigned *, int) {}

size_t radix_sort_pairs_scratch(int) { return 0; }
void radix_sort_pairs(unsigned *, unsigned *, int, void *) {}

size_t radix_sort_floats_scratch(int) { return 0; }
void radix_sort_floats(float *, int, void *) {}
