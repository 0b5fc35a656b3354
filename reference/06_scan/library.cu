// Lab 06, the vendor's version: CUB's BlockScan and DeviceScan behind the contract.
// Fails: scan_inclusive: blocks in any order | TIMEOUT | Blocks may begin in any order
// On gpu: passes - it begins blocks in the order of blockIdx, which CUB relies on
#include "../check.hpp"
#include "lab.hpp"

#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>

#include <cuda_runtime.h>

constexpr int block_size = 512, per_thread = 4; // 2048 elements

template <bool inclusive> static __global__ void scan_one_block(const int *in, int *out, int n)
{
    using scan = cub::BlockScan<int, block_size>;
    __shared__ typename scan::TempStorage storage;
    int x[per_thread], first = threadIdx.x * per_thread;
    for (int k = 0; k < per_thread; ++k) x[k] = first + k < n ? in[first + k] : 0;
    if (inclusive)
        scan(storage).InclusiveSum(x, x);
    else
        scan(storage).ExclusiveSum(x, x);
    for (int k = 0; k < per_thread; ++k)
        if (first + k < n) out[first + k] = x[k];
}

void scan_block_inclusive(const int *in, int *out, int n)
{
    scan_one_block<true><<<1, block_size>>>(in, out, n);
    check_launch("scan_one_block");
}

void scan_block_exclusive(const int *in, int *out, int n)
{
    scan_one_block<false><<<1, block_size>>>(in, out, n);
    check_launch("scan_one_block");
}

template <class T> static void scan(void *scratch, size_t &bytes, const T *in, T *out, int n)
{
    check(cub::DeviceScan::InclusiveSum(scratch, bytes, in, out, n), "DeviceScan::InclusiveSum");
}

template <class T> static size_t scratch_for(int n)
{
    size_t bytes = 0;
    scan<T>(nullptr, bytes, nullptr, nullptr, n);
    return bytes;
}

size_t scan_inclusive_scratch(int n) { return scratch_for<int>(n); }
void scan_inclusive(const int *in, int *out, int n, void *scratch)
{
    size_t bytes = scratch_for<int>(n);
    scan(scratch, bytes, in, out, n);
}

size_t scan_exclusive_scratch(int n)
{
    size_t bytes = 0;
    check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, static_cast<const int *>(nullptr),
                                        static_cast<int *>(nullptr), n),
          "DeviceScan::ExclusiveSum");
    return bytes;
}

void scan_exclusive(const int *in, int *out, int n, void *scratch)
{
    size_t bytes = scan_exclusive_scratch(n);
    check(cub::DeviceScan::ExclusiveSum(scratch, bytes, in, out, n), "DeviceScan::ExclusiveSum");
}

size_t scan_inclusive_int64_scratch(int n) { return scratch_for<std::int64_t>(n); }
void scan_inclusive_int64(const std::int64_t *in, std::int64_t *out, int n, void *scratch)
{
    size_t bytes = scratch_for<std::int64_t>(n);
    scan(scratch, bytes, in, out, n);
}

size_t scan_inclusive_float_scratch(int n) { return scratch_for<float>(n); }
void scan_inclusive_float(const float *in, float *out, int n, void *scratch)
{
    size_t bytes = scratch_for<float>(n);
    scan(scratch, bytes, in, out, n);
}
