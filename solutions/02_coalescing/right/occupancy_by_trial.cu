// Right: only the quizzes of occupancy: blocks are added one by one until a rule is broken, and
// latency is computed in double.
#include "lab.hpp"

#include <cuda_runtime.h>

#include <cmath>

static bool fit(int blocks, const block_needs &block, const sm_limits &limits)
{
    int warps = blocks * ((block.threads + 31) / 32), of_warp = 32 * block.registers;
    int bytes = block.shared_bytes + limits.shared_reserved;
    while (of_warp % limits.register_unit != 0) ++of_warp;
    while (bytes % limits.shared_unit != 0) ++bytes;
    int in_partition = (warps + limits.partitions - 1) / limits.partitions;
    return 32 * warps <= limits.threads && blocks <= limits.blocks &&
           in_partition * of_warp <= limits.registers / limits.partitions &&
           blocks * bytes <= limits.shared_bytes;
}

void resident_blocks(const block_needs *blocks_host, int *resident_host, int count,
                     sm_limits limits)
{
    for (int i = 0; i < count; ++i) {
        resident_host[i] = 0;
        while (fit(resident_host[i] + 1, blocks_host[i], limits)) ++resident_host[i];
    }
}

void warps_hiding_latency(const memory_demand *demands_host, int *warps_host, int count)
{
    for (int i = 0; i < count; ++i) {
        const memory_demand &m = demands_host[i];
        double nanoseconds = m.latency_cycles / (m.clock_mhz / 1000.0);
        double bytes = nanoseconds * m.gb_per_s;
        double of_all_warps = 32.0 * m.bytes_per_thread * m.multiprocessors;
        warps_host[i] = static_cast<int>(std::ceil(bytes / of_all_warps - 1e-9));
    }
}

// Not begun.
void scale_columns(const float *, float *, int, int, const float *) {}
void read_offset(const float *, const float *, float *, int, int) {}
void write_offset(const float *, const float *, float *, int, int) {}
void add_unrolled(const float *, const float *, float *, int) {}
void predict(const access_pattern *, prediction *, int) {}
