// Finds special registers by their names in PTX.
#include "specials.hpp"

#include <map>

namespace simulator::core {

special special_named(std::string_view name)
{
    static const std::map<std::string_view, special> names = {
        {"ntid.x", special::ntid_x},
        {"ntid.y", special::ntid_y},
        {"ntid.z", special::ntid_z},
        {"ctaid.x", special::ctaid_x},
        {"ctaid.y", special::ctaid_y},
        {"ctaid.z", special::ctaid_z},
        {"nctaid.x", special::nctaid_x},
        {"nctaid.y", special::nctaid_y},
        {"nctaid.z", special::nctaid_z},
        {"warpid", special::warpid},
        {"nwarpid", special::nwarpid},
        {"smid", special::smid},
        {"nsmid", special::nsmid},
        {"dynamic_smem_size", special::dynamic_smem_size},
        {"total_smem_size", special::total_smem_size},
        {"tid.x", special::tid_x},
        {"tid.y", special::tid_y},
        {"tid.z", special::tid_z},
        {"laneid", special::laneid},
        {"lanemask_eq", special::lanemask_eq},
        {"lanemask_le", special::lanemask_le},
        {"lanemask_lt", special::lanemask_lt},
        {"lanemask_ge", special::lanemask_ge},
        {"lanemask_gt", special::lanemask_gt},
        {"clock", special::clock},
        {"clock_hi", special::clock_hi},
        {"clock64", special::clock64},
        {"globaltimer", special::globaltimer},
        {"globaltimer_lo", special::globaltimer_lo},
        {"globaltimer_hi", special::clock_hi},
        {"gridid", special::zero},
        {"tid.w", special::zero},
        {"ntid.w", special::zero},
        {"ctaid.w", special::zero},
        {"nctaid.w", special::zero},
        // Cooperative groups find the workspace of a cooperative launch here.
        {"envreg1", special::grid_workspace_high},
        {"envreg2", special::grid_workspace_low},
    };
    if (auto it = names.find(name); it != names.end()) return it->second;
    return name.starts_with("envreg") ? special::zero : special::unknown;
}

} // namespace simulator::core
