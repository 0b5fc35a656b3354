// Lab 10, the vendor's version: CUB's WarpMergeSort and DeviceRadixSort behind the contract.
#include "../check.hpp"
#include "lab.hpp"

#include <cub/device/device_radix_sort.cuh>
#include <cub/warp/warp_merge_sort.cuh>

#include <cuda_runtime.h>

constexpr int block_size = 128, warps = block_size / 32;

struct smaller {
    __device__ bool operator()(unsigned x, unsigned y) const { return x < y; }
};

static __global__ void sort_runs(unsigned *keys, int n)
{
    using sort = cub::WarpMergeSort<unsigned, 1>;
    __shared__ typename sort::TempStorage storage[warps];
    int i = blockIdx.x * block_size + threadIdx.x;
    unsigned key[1] = {i < n ? keys[i] : 0xffffffff};
    sort(storage[threadIdx.x / 32]).Sort(key, smaller{});
    if (i < n) keys[i] = key[0];
}

void sort_warps(unsigned *keys, int n)
{
    if (n == 0) return;
    sort_runs<<<n / block_size + 1, block_size>>>(keys, n);
    check_launch("sort_runs");
}

// CUB's own scratch comes after the second buffer of the keys (and values). With two buffers for
// each it reports which one holds the result.
static size_t places_bytes(int n) { return (sizeof(unsigned) * n + 255) / 256 * 256; }

static void sort_keys(unsigned *keys, int n, void *scratch, size_t &bytes)
{
    auto *other = static_cast<char *>(scratch);
    cub::DoubleBuffer<unsigned> both(keys, reinterpret_cast<unsigned *>(other));
    check(
        cub::DeviceRadixSort::SortKeys(scratch ? other + places_bytes(n) : nullptr, bytes, both, n),
        "DeviceRadixSort::SortKeys");
    if (scratch && both.Current() != keys)
        check(cudaMemcpyAsync(keys, both.Current(), sizeof(unsigned) * n, cudaMemcpyDeviceToDevice),
              "copying the result");
}

size_t radix_sort_scratch(int n)
{
    size_t bytes = 0;
    sort_keys(nullptr, n, nullptr, bytes);
    return places_bytes(n) + bytes;
}
void radix_sort(unsigned *keys, int n, void *scratch)
{
    size_t bytes = radix_sort_scratch(n) - places_bytes(n);
    sort_keys(keys, n, scratch, bytes);
}

// CUB takes -0 and 0 for equal, so it is given the bits, flipped so that their order as unsigned
// numbers is that of the floats.
static __global__ void turn_bits(unsigned *keys, int n, bool back)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i >= n) return;
    bool negative = keys[i] >> 31 != back;
    keys[i] ^= negative ? 0xffffffff : 0x80000000;
}

size_t radix_sort_floats_scratch(int n) { return radix_sort_scratch(n); }
void radix_sort_floats(float *keys, int n, void *scratch)
{
    if (n == 0) return;
    unsigned *bits = reinterpret_cast<unsigned *>(keys);
    turn_bits<<<n / block_size + 1, block_size>>>(bits, n, false);
    radix_sort(bits, n, scratch);
    turn_bits<<<n / block_size + 1, block_size>>>(bits, n, true);
    check_launch("turn_bits");
}

size_t radix_sort_pairs_scratch(int n)
{
    size_t bytes = 0;
    cub::DoubleBuffer<unsigned> none;
    check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, none, none, n),
          "DeviceRadixSort::SortPairs");
    return 2 * places_bytes(n) + bytes;
}

void radix_sort_pairs(unsigned *keys, unsigned *values, int n, void *scratch)
{
    auto *other = static_cast<char *>(scratch);
    cub::DoubleBuffer<unsigned> both(keys, reinterpret_cast<unsigned *>(other));
    cub::DoubleBuffer<unsigned> both_values(values,
                                            reinterpret_cast<unsigned *>(other + places_bytes(n)));
    size_t bytes = radix_sort_pairs_scratch(n) - 2 * places_bytes(n);
    check(cub::DeviceRadixSort::SortPairs(other + 2 * places_bytes(n), bytes, both, both_values, n),
          "DeviceRadixSort::SortPairs");
    if (both.Current() == keys) return;
    check(cudaMemcpyAsync(keys, both.Current(), sizeof(unsigned) * n, cudaMemcpyDeviceToDevice),
          "copying the keys");
    check(cudaMemcpyAsync(values, both_values.Current(), sizeof(unsigned) * n,
                          cudaMemcpyDeviceToDevice),
          "copying the values");
}
