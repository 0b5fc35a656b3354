// Numbers the special registers of PTX. The handler "core.special" finds the number in
// instruction::extra.
#pragma once

#include "simulator/lanes/context.hpp"

#include <string_view>

namespace simulator::core {

enum class special : unsigned {
    ntid_x, // from here to zero: the value is in context::specials
    ntid_y,
    ntid_z,
    ctaid_x,
    ctaid_y,
    ctaid_z,
    nctaid_x,
    nctaid_y,
    nctaid_z,
    warpid,
    nwarpid,
    smid, // always 0
    nsmid,
    dynamic_smem_size,
    total_smem_size,
    grid_workspace_high,
    grid_workspace_low,
    zero,
    tid_x,
    tid_y,
    tid_z,
    laneid,
    lanemask_eq,
    lanemask_le,
    lanemask_lt,
    lanemask_ge,
    lanemask_gt,
    clock, // this and the next ones: warp instructions of the grid so far
    clock_hi,
    clock64,
    globaltimer,
    globaltimer_lo, // globaltimer_hi: clock_hi
    unknown,
};

special special_named(std::string_view name); // "tid.x"
inline bool is_wide(special s) { return s == special::clock64 || s == special::globaltimer; }

// Only for registers whose values are in context::specials.
inline void set_special(context &c, special s, std::uint32_t value)
{
    c.specials[static_cast<unsigned>(s)] = value;
}
inline void set_special(context &c, special x, const dim &value) // x, and y and z after it
{
    std::uint32_t *to = c.specials + static_cast<unsigned>(x);
    to[0] = value.x, to[1] = value.y, to[2] = value.z;
}

} // namespace simulator::core
