// Fails: resident_blocks: threads and blocks | CRASH | blocks_by_shared_memory can divide by a number
// A block without shared memory takes none of it, and the host divides by that.
#include "lab.hpp"

#include <cuda_runtime.h>

#include <algorithm>

static int blocks_by_warps(const block_needs &block, const sm_limits &limits)
{
    return std::min(limits.blocks, limits.threads / 32 * 32 / block.threads);
}

static int blocks_by_shared_memory(const block_needs &block, const sm_limits &limits)
{
    return limits.shared_bytes / block.shared_bytes;
}

void resident_blocks(const block_needs *blocks_host, int *resident_host, int count,
                     sm_limits limits)
{
    for (int i = 0; i < count; ++i)
        resident_host[i] = std::min(blocks_by_warps(blocks_host[i], limits),
                                    blocks_by_shared_memory(blocks_host[i], limits));
}

// Not begun.
void scale_columns(const float *, float *, int, int, const float *) {}
void read_offset(const float *, const float *, float *, int, int) {}
void write_offset(const float *, const float *, float *, int, int) {}
void add_unrolled(const float *, const float *, float *, int) {}
void predict(const access_pattern *, prediction *, int) {}
