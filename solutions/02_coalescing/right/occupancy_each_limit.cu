// Right: only the quizzes of occupancy: one function per limit, std::ranges::min over them, and
// latency by the warps of the device, shared out last.
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <climits>

static int up(int value, int unit) { return (value + unit - 1) / unit; }

static int by_warps(const block_needs &b, const sm_limits &sm)
{
    return sm.threads / (32 * up(b.threads, 32));
}

static int by_registers(const block_needs &b, const sm_limits &sm)
{
    int units_of_warp = up(32 * b.registers, sm.register_unit);
    int units_of_partition = sm.registers / sm.partitions / sm.register_unit;
    return units_of_partition / units_of_warp * sm.partitions / up(b.threads, 32);
}

static int by_shared_memory(const block_needs &b, const sm_limits &sm)
{
    int units = up(b.shared_bytes + sm.shared_reserved, sm.shared_unit);
    return units == 0 ? INT_MAX : sm.shared_bytes / sm.shared_unit / units;
}

void resident_blocks(const block_needs *blocks_host, int *resident_host, int count,
                     sm_limits limits)
{
    std::transform(blocks_host, blocks_host + count, resident_host, [&](const block_needs &b) {
        return std::ranges::min(std::array{limits.blocks, by_warps(b, limits),
                                           by_registers(b, limits), by_shared_memory(b, limits)});
    });
}

void warps_hiding_latency(const memory_demand *demands_host, int *warps_host, int count)
{
    for (int i = 0; i < count; ++i) {
        auto [cycles, mhz, gb_per_s, multiprocessors, bytes_per_thread] = demands_host[i];
        long long picoseconds_by_mhz = 1000000LL * cycles;
        long long thousandths = picoseconds_by_mhz * gb_per_s; // of a byte, times mhz
        long long of_warps = 32000LL * bytes_per_thread * mhz * multiprocessors;
        warps_host[i] = static_cast<int>((thousandths - 1) / of_warps + 1);
    }
}

// Not begun.
void scale_columns(const float *, float *, int, int, const float *) {}
void read_offset(const float *, const float *, float *, int, int) {}
void write_offset(const float *, const float *, float *, int, int) {}
void add_unrolled(const float *, const float *, float *, int) {}
void predict(const access_pattern *, prediction *, int) {}
