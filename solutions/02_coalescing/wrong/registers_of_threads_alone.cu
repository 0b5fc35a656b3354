// Fails: resident_blocks: registers | WRONG_ANSWER | not rounded up, and taken as one piece
// The registers of all warps of the block are divided into those of the SM.
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>

static int rounded_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

void resident_blocks(const block_needs *blocks_host, int *resident_host, int count,
                     sm_limits limits)
{
    for (int i = 0; i < count; ++i) {
        block_needs block = blocks_host[i];
        int warps = (block.threads + 31) / 32;
        int resident = std::min(limits.threads / 32 / warps, limits.blocks);
        resident = std::min(resident, limits.registers / (32 * warps * block.registers));
        int bytes = rounded_up(block.shared_bytes + limits.shared_reserved, limits.shared_unit);
        if (bytes > 0) resident = std::min(resident, limits.shared_bytes / bytes);
        resident_host[i] = resident;
    }
}

// Not begun.
void scale_columns(const float *, float *, int, int, const float *) {}
void read_offset(const float *, const float *, float *, int, int) {}
void write_offset(const float *, const float *, float *, int, int) {}
void add_unrolled(const float *, const float *, float *, int) {}
void predict(const access_pattern *, prediction *, int) {}
