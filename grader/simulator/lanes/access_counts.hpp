// Counters of memory requests: sectors, bank conflicts, and the worst request of each instruction.
#pragma once

#include "access.hpp"

namespace simulator::core::SIMULATOR_LEVEL {

void count_device(context &c, const instruction &i, lane_mask mask, const u64 *address,
                  const access &how, bool contiguous);
void count_shared(context &c, const instruction &i, lane_mask mask, const u64 *address,
                  const access &how, bool contiguous);
void count_constant(context &c, const instruction &i, lane_mask mask, const u64 *address);
void count_local(context &c, const instruction &i, lane_mask mask, const u64 *at, u32 bytes,
                 bool write);
void count_atomic(context &c, const instruction &i, lane_mask mask, const u64 *address,
                  ptx::space s, u32 bytes);

inline void count_window(context &c, const instruction &i, lane_mask mask, const u64 *address,
                         const access &how, bool contiguous)
{
    if (!c.count) return;
    if (how.space == space::shared)
        count_shared(c, i, mask, address, how, contiguous);
    else if (how.space == space::constant)
        count_constant(c, i, mask, address);
    else
        count_device(c, i, mask, address, how, contiguous);
}

} // namespace simulator::core::SIMULATOR_LEVEL
