// Fails: sum: few atomics | TOO_SLOW | bytes moved
// A tree in device memory, one launch for each of its steps.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <utility>

constexpr int block_size = 256;
static long long *halves = nullptr;

template <class T> static __global__ void add_pairs(const T *in, long long *to, int n)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (2 * i < n) to[i] = 2 * i + 1 < n ? (long long)in[2 * i] + in[2 * i + 1] : in[2 * i];
}

void sum(const int *in, long long *out, int n)
{
    if (n == 0) {
        cudaMemsetAsync(out, 0, sizeof *out);
        return;
    }
    static int room = 0;
    if (n > room) {
        check(cudaFree(halves), "cudaFree");
        check(cudaMalloc(&halves, 2ll * n * sizeof *halves), "cudaMalloc");
        room = n;
    }
    long long *from = halves, *to = halves + n;
    int left = (n + 1) / 2;
    auto blocks = [](int threads) { return (threads + block_size - 1) / block_size; };
    add_pairs<<<blocks(left), block_size>>>(in, left == 1 ? out : from, n);
    for (; left > 1; left = (left + 1) / 2) {
        int half = (left + 1) / 2;
        add_pairs<<<blocks(half), block_size>>>(from, half == 1 ? out : to, left);
        std::swap(from, to);
    }
}

void histogram(const unsigned char *, size_t, unsigned *) {}

void histogram_tiles(const unsigned char *, int, int, int, unsigned *) {}

void histogram_range(const float *, int, float, float, int, unsigned *) {}
