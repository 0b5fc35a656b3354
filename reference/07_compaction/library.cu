// Lab 07, the vendor's version: CUB's DeviceSelect, DevicePartition and DeviceScan.
// Fails: compact: blocks in any order | TIMEOUT | Blocks may begin in any order
// On gpu: passes - it begins blocks in the order of blockIdx, which CUB relies on
#include "../check.hpp"
#include "lab.hpp"

#include <cub/device/device_partition.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include <cuda_runtime.h>
#include <thrust/iterator/transform_iterator.h>

constexpr int block_size = 256;

static int blocks_for(int threads) { return (threads + block_size - 1) / block_size; }

struct positive {
    __device__ bool operator()(float x) const { return x > 0; }
};
struct marked {
    __device__ int operator()(unsigned char keep) const { return keep != 0; }
};

size_t compact_scratch(int n)
{
    size_t bytes = 0;
    check(cub::DeviceSelect::If(nullptr, bytes, static_cast<const float *>(nullptr),
                                static_cast<float *>(nullptr), static_cast<int *>(nullptr), n,
                                positive{}),
          "DeviceSelect::If");
    return bytes;
}

void compact(const float *in, float *out, int *count, int n, void *scratch)
{
    size_t bytes = compact_scratch(n);
    check(cub::DeviceSelect::If(scratch, bytes, in, out, count, n, positive{}), "DeviceSelect::If");
}

// The scan's own scratch follows the places, one int per element.
static size_t places_bytes(int n) { return (sizeof(int) * n + 255) / 256 * 256; }

static cudaError_t scan_marks(void *scratch, size_t &bytes, const unsigned char *keep, int *places,
                              int n)
{
    auto flags = thrust::make_transform_iterator(keep, marked{});
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, flags, places, n);
}

size_t unpack_scratch(int n)
{
    size_t bytes = 0;
    check(scan_marks(nullptr, bytes, nullptr, nullptr, n), "DeviceScan::ExclusiveSum");
    return places_bytes(n) + bytes;
}

static __global__ void fetch(const float *packed, const unsigned char *keep, float *out, int n,
                             const int *places)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    if (i < n) out[i] = keep[i] != 0 ? packed[places[i]] : 0;
}

void unpack(const float *packed, const unsigned char *keep, float *out, int n, void *scratch)
{
    if (n == 0) return;
    int *places = static_cast<int *>(scratch);
    void *behind = static_cast<char *>(scratch) + places_bytes(n);
    size_t bytes = unpack_scratch(n) - places_bytes(n);
    check(scan_marks(behind, bytes, keep, places, n), "DeviceScan::ExclusiveSum");
    fetch<<<blocks_for(n), block_size>>>(packed, keep, out, n, places);
    check_launch("fetch");
}

size_t partition_scratch(int n)
{
    size_t bytes = 0;
    check(cub::DevicePartition::If(nullptr, bytes, static_cast<const float *>(nullptr),
                                   static_cast<float *>(nullptr), static_cast<int *>(nullptr), n,
                                   positive{}),
          "DevicePartition::If");
    return bytes;
}

// DevicePartition leaves the rest in reverse order; each thread changes the places of two.
static __global__ void reverse_rest(float *out, int n, const int *kept_count)
{
    int first = *kept_count, i = blockIdx.x * block_size + threadIdx.x;
    if (i >= (n - first) / 2) return;
    float x = out[first + i];
    out[first + i] = out[n - 1 - i];
    out[n - 1 - i] = x;
}

void partition(const float *in, float *out, int *kept_count, int n, void *scratch)
{
    size_t bytes = partition_scratch(n);
    check(cub::DevicePartition::If(scratch, bytes, in, out, kept_count, n, positive{}),
          "DevicePartition::If");
    if (n < 2) return;
    reverse_rest<<<blocks_for(n / 2), block_size>>>(out, n, kept_count);
    check_launch("reverse_rest");
}
