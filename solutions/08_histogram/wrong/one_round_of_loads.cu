// Fails: histogram: many blocks | WRONG_ANSWER | Of the whole 16 bytes only the first
// The grid has a limit, and its threads no loop.
#include "lab.hpp"

#include <cuda_runtime.h>

static __global__ void count(const unsigned char *in, size_t n, unsigned *bins)
{
    size_t head = min(size_t(-reinterpret_cast<size_t>(in) % 16), n), words = (n - head) / 16;
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x, rest = head + 16 * words;
    if (i < words)
        for (int k = 0; k < 16; ++k) atomicAdd(bins + in[head + 16 * i + k], 1);
    if (i < head) atomicAdd(bins + in[i], 1);
    if (i < n - rest) atomicAdd(bins + in[rest + i], 1);
}

void histogram(const unsigned char *in, size_t n, unsigned *bins)
{
    cudaMemset(bins, 0, 256 * sizeof(unsigned));
    size_t blocks = n / 16 / 192 + 1;
    count<<<unsigned(blocks < 80 ? blocks : 80), 192>>>(in, n, bins);
}

void histogram_tiles(const unsigned char *, int, int, int, unsigned *) {}
void histogram_range(const float *, int, float, float, int, unsigned *) {}

void sum(const int *, long long *, int) {}
