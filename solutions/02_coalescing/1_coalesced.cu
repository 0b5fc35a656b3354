// Lab 02, rung 1: neighbouring lanes handle neighbouring elements of the matrix.
//
// New: one thread per element, where naive has one per row. And the first version of what naive has
// not: resident_blocks and warps_hiding_latency.
// Unchanged: read_offset, write_offset, add_unrolled, predict.
#include "../check.hpp"
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>

constexpr int block_size = 256;

static int blocks_for(int n, int elements_per_block)
{
    return (n + elements_per_block - 1) / elements_per_block;
}

// One thread per element: the lanes of a warp handle neighbours, whose sectors they share.
static __global__ void scale_one_each(const float *in, float *out, int n, int cols,
                                      const float *factor)
{
    int i = blockIdx.x * block_size + threadIdx.x;
    // The matrix is one array, row after row: what is left over after whole rows is the column.
    if (i < n) out[i] = in[i] * factor[i % cols];
}

void scale_columns(const float *in, float *out, int rows, int cols, const float *factor)
{
    int n = rows * cols;
    if (n == 0) return;
    scale_one_each<<<blocks_for(n, block_size), block_size>>>(in, out, n, cols, factor);
    check_launch("scale_one_each");
}

static int rounded_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

void resident_blocks(const block_needs *blocks_host, int *resident_host, int count,
                     sm_limits limits)
{
    for (int i = 0; i < count; ++i) {
        const block_needs &block = blocks_host[i];
        int warps = (block.threads + 31) / 32;
        int by_warps = limits.threads / 32 / warps;
        // Registers are shared out to warps, and a partition cannot lend any to another.
        int of_warp = rounded_up(32 * block.registers, limits.register_unit);
        int warps_of_partition = limits.registers / limits.partitions / of_warp;
        int by_registers = limits.partitions * warps_of_partition / warps;
        int bytes = rounded_up(block.shared_bytes + limits.shared_reserved, limits.shared_unit);
        int by_shared = bytes > 0 ? limits.shared_bytes / bytes : limits.blocks;
        resident_host[i] = std::min({limits.blocks, by_warps, by_registers, by_shared});
    }
}

// Little's law: bytes in flight = latency * bandwidth. A GB/s is a byte per nanosecond, and a cycle
// takes 1000 / clock_mhz nanoseconds; both sides are multiplied by clock_mhz to stay whole.
void warps_hiding_latency(const memory_demand *demands_host, int *warps_host, int count)
{
    for (int i = 0; i < count; ++i) {
        const memory_demand &m = demands_host[i];
        long long needed = 1000LL * m.latency_cycles * m.gb_per_s;
        long long of_warp = 32LL * m.bytes_per_thread * m.multiprocessors * m.clock_mhz;
        warps_host[i] = static_cast<int>((needed + of_warp - 1) / of_warp);
    }
}
