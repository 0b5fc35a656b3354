// Declares the counting of a launch.
#pragma once

#include "grid.hpp"

namespace simulator::core {

// Adds a launch to the counts of its kernel, and resets those of its functions. `beside_host`:
// other host threads may have used managed memory meanwhile. `read`, `written`: sectors.
void add_counts(program &, const grid &, bool by_kernel, bool beside_host, const sector_set &read,
                const sector_set &written);

} // namespace simulator::core
