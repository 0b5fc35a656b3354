// Finds special registers by their names in PTX.
#include "special_registers.hpp"

#include <algorithm>
#include <iterator>

namespace simulator::core {
namespace {

// By value of `special`. The grid groups of cooperative groups find the address of their workspace
// in envreg1 (high half) and envreg2.
constexpr std::string_view names[] = {"ntid.x",          "ntid.y",
                                      "ntid.z",          "ctaid.x",
                                      "ctaid.y",         "ctaid.z",
                                      "nctaid.x",        "nctaid.y",
                                      "nctaid.z",        "warpid",
                                      "nwarpid",         "smid",
                                      "nsmid",           "dynamic_smem_size",
                                      "total_smem_size", "envreg1",
                                      "envreg2",         "gridid",
                                      "tid.x",           "tid.y",
                                      "tid.z",           "laneid",
                                      "lanemask_eq",     "lanemask_le",
                                      "lanemask_lt",     "lanemask_ge",
                                      "lanemask_gt",     "clock",
                                      "clock_hi",        "clock64",
                                      "globaltimer",     "globaltimer_lo"};
static_assert(std::size(names) == static_cast<unsigned>(special::unknown));

constexpr std::string_view also_zero[] = {"tid.w", "ntid.w", "ctaid.w", "nctaid.w"};

} // namespace

special special_named(std::string_view name)
{
    const auto known = std::ranges::find(names, name);
    if (known != std::end(names)) return static_cast<special>(known - std::begin(names));
    if (name == "globaltimer_hi") return special::clock_hi;
    const bool zero =
        name.starts_with("envreg") || std::ranges::find(also_zero, name) != std::end(also_zero);
    return zero ? special::zero : special::unknown;
}

} // namespace simulator::core
