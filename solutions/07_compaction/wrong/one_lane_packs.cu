// Fails: compact: speed, half kept | TOO_SLOW | lanes at work
// On gpu: compact: speed, half kept | TOO_SLOW |
// The lanes of a warp load a tile into shared memory side by side, and one of them packs it.
#include "lab.hpp"

#include <cuda_runtime.h>

constexpr int tile = 1024;

// Without `out`, how many each tile keeps; with it, where counts[] are those kept before a tile.
static __global__ void pack_tile(const float *in, float *out, int *counts, int n)
{
    __shared__ float values[tile];
    __shared__ int kept;
    int first = blockIdx.x * tile, count = min(tile, n - first);
    for (int i = threadIdx.x; i < count; i += 32) values[i] = in[first + i];
    __syncwarp();
    if (threadIdx.x == 0) {
        kept = 0;
        for (int i = 0; i < count; ++i)
            if (values[i] > 0) values[kept++] = values[i];
        if (!out) counts[blockIdx.x] = kept;
    }
    __syncwarp();
    for (int i = threadIdx.x; out && i < kept; i += 32) out[counts[blockIdx.x] + i] = values[i];
}

static __global__ void add_counts(int *counts, int tiles, int *total)
{
    int before = 0;
    for (int t = 0; t < tiles; ++t) {
        int kept = counts[t];
        counts[t] = before;
        before += kept;
    }
    *total = before;
}

size_t compact_scratch(int n) { return (size_t(n) / tile + 1) * sizeof(int); }
void compact(const float *in, float *out, int *count, int n, void *scratch)
{
    int *counts = static_cast<int *>(scratch), tiles = (n + tile - 1) / tile;
    if (tiles > 0) pack_tile<<<tiles, 32>>>(in, nullptr, counts, n);
    add_counts<<<1, 1>>>(counts, tiles, count);
    if (tiles > 0) pack_tile<<<tiles, 32>>>(in, out, counts, n);
}

// Not begun.
size_t unpack_scratch(int) { return 0; }
void unpack(const float *, const unsigned char *, float *, int, void *) {}
size_t partition_scratch(int) { return 0; }
void partition(const float *, float *, int *, int, void *) {}
